/**
 * The interpreter's file system is in the memory of the worker. What is there at the start is made read-only; a call
 * may write below two folders, up to a quota, and what it wrote is removed after it.
 */

interface Node {
  readonly id: number;
  readonly mode: number;
  readonly contents: Uint8Array | Record<string, Node>;
  readonly usedBytes: number;
}

interface Stream {
  readonly fd: number;
  readonly node: Node;
}

interface DirectoryOps {
  mknod(parent: Node, ...rest: unknown[]): Node;
  symlink(parent: Node, ...rest: unknown[]): Node;
  unlink(parent: Node, name: string): void;
  rmdir(parent: Node, name: string): void;
  rename(node: Node, folder: Node, name: string): void;
  setattr(node: Node, attributes: { readonly size?: number }): void;
}

interface FileOps {
  readonly node: Pick<DirectoryOps, 'setattr'>;
  readonly stream: { write(stream: Stream, buffer: Uint8Array, offset: number, length: number, position: number, canOwn?: boolean): number };
}

/** The part of Emscripten's `FS` that is used here. */
export interface FileSystem {
  readonly ErrnoError: new (number: number) => Error;
  readonly filesystems: {
    readonly MEMFS: { readonly ops_table: { readonly dir: { node: DirectoryOps }; readonly file: FileOps; readonly chrdev: { node: FileOps['node'] } } };
  };
  readonly streams: readonly (Stream | null | undefined)[];
  close(stream: Stream): void;
  lookupPath(path: string): { readonly node: Node };
  readdir(path: string): string[];
  isDir(mode: number): boolean;
  unlink(path: string): void;
  rmdir(path: string): void;
  chdir(path: string): void;
  mkdirTree(path: string): void;
  writeFile(path: string, data: Uint8Array): void;
  makedev(major: number, minor: number): number;
  mkdev(path: string, mode: number, device: number): void;
  registerDevice(device: number, ops: object): void;
}

// Error numbers of WASI, which Emscripten's file system speaks.
const EROFS = 69;
const ENOSPC = 51;
const QUOTA = 32 * 1024 * 1024;
const FILES = 1000;

/** @returns what removes everything that was written since, and closes what was opened. */
export function confine(fs: FileSystem, writable: readonly string[]): () => void {
  const original = new Set<Node>();
  const walk = (node: Node): void => {
    if (original.has(node)) return;
    original.add(node);
    if (fs.isDir(node.mode)) Object.values(node.contents as Record<string, Node>).forEach(walk);
  };
  walk(fs.lookupPath('/').node);
  const folders = new Set(writable.map((path) => fs.lookupPath(path).node));
  const streams = new Set(fs.streams);
  const frozen = (node: Node): boolean => original.has(node);
  const refuse = (refused: boolean): void => {
    if (refused) throw new fs.ErrnoError(EROFS);
  };
  let bytes = 0;
  let files = 0;
  const grow = (by: number): void => {
    if (by > 0 && (bytes += by) > QUOTA) {
      bytes -= by;
      throw new fs.ErrnoError(ENOSPC);
    }
  };

  // These tables are shared by every node, those of a later call as well.
  const { dir, file, chrdev } = fs.filesystems.MEMFS.ops_table;
  const folder = { ...dir.node };
  const fixed = (parent: Node): boolean => frozen(parent) && !folders.has(parent);
  const make = (parent: Node): void => {
    refuse(fixed(parent));
    if (++files > FILES) throw new fs.ErrnoError(ENOSPC);
  };
  Object.assign(dir.node, {
    mknod(parent, ...rest) {
      make(parent);
      return folder.mknod(parent, ...rest);
    },
    symlink(parent, ...rest) {
      make(parent);
      return folder.symlink(parent, ...rest);
    },
    unlink(parent, name) {
      refuse(fixed(parent));
      folder.unlink(parent, name);
    },
    rmdir(parent, name) {
      refuse(fixed(parent));
      folder.rmdir(parent, name);
    },
    rename(node, to, name) {
      refuse(frozen(node) || fixed(to));
      folder.rename(node, to, name);
    },
    setattr(node, attributes) {
      refuse(frozen(node));
      folder.setattr(node, attributes);
    },
  } satisfies DirectoryOps);
  for (const ops of [file.node, chrdev.node]) {
    const setattr = ops.setattr.bind(ops);
    ops.setattr = (node, attributes) => {
      refuse(frozen(node));
      grow((attributes.size ?? 0) - node.usedBytes);
      setattr(node, attributes);
    };
  }
  const write = file.stream.write.bind(file.stream);
  file.stream.write = (stream, buffer, offset, length, position, canOwn) => {
    refuse(frozen(stream.node));
    grow(position + length - stream.node.usedBytes);
    return write(stream, buffer, offset, length, position, canOwn);
  };

  const empty = (path: string): void => {
    for (const name of fs.readdir(path)) {
      if (name === '.' || name === '..') continue;
      const child = `${path}/${name}`;
      // The entry itself, not what a link points to.
      const node = (fs.lookupPath(path).node.contents as Record<string, Node>)[name];
      if (node !== undefined && fs.isDir(node.mode)) {
        empty(child);
        fs.rmdir(child);
      } else fs.unlink(child);
    }
  };
  return () => {
    for (const stream of fs.streams) if (stream && !streams.has(stream)) fs.close(stream);
    fs.chdir('/');
    if (files > 0) writable.forEach(empty);
    fs.chdir(writable[0] ?? '/');
    bytes = 0;
    files = 0;
  };
}
