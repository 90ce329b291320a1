/** Policies on disk: a folder of Hugging Face files. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { encodePolicy, loadPolicy, type PolicyFiles } from '../policy/checkpoint.ts';

export const MODELS = resolve(import.meta.dirname, '../../public/models');

/** A name under `public/models`, or a path. */
export function modelFolder(name: string): string {
  return name.includes('/') || name.includes('\\') || name.startsWith('.') ? resolve(name) : join(MODELS, name);
}

/** @throws Error that names the folder and, in its cause, what is wrong with which file. */
export async function readModel(name: string): Promise<PolicyFiles> {
  const folder = modelFolder(name);
  const policy = loadPolicy(async (file) => {
    try {
      return await readFile(join(folder, file));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  });
  return policy.catch((cause: unknown) => {
    throw new Error(`the model in ${folder} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
}

/** @param card becomes the folder's README.md. */
export async function writeModel(folder: string, files: PolicyFiles, card: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const encoded = Object.entries(encodePolicy(files));
  await Promise.all([
    ...encoded.map(([name, bytes]) => writeFile(join(folder, name), bytes)),
    writeFile(join(folder, 'README.md'), card),
  ]);
}
