/**
 * Prepares the global scope of an engine worker for jax-js. Must be imported before jax-js is.
 *
 * jax-js instantiates a module for every kernel it runs; one instance a module serves as well and costs a fifth
 * less in Chromium. It multiplies and adds in one rounding where the machine can: refused, so that the same seed
 * gives the same weights in every browser and in Node. It would build its memory shared, for a pool of threads
 * that synchronous calls never use: not wanted here.
 */
const RELAXED_MADD = '0061736d0100000001080160037b7b7b017b030201000a0d010b00200020012002fd85020b';

function prepare(): void {
  const { Instance, validate } = WebAssembly;
  const instances = new WeakMap<WebAssembly.Module, WebAssembly.Instance>();
  WebAssembly.Instance = new Proxy(Instance, {
    construct(target, [module, imports]: [WebAssembly.Module, WebAssembly.Imports?]) {
      // Only kernels, which import nothing but the one memory of this worker.
      if (imports?.['env']?.['memory'] === undefined) return new target(module, imports);
      const known = instances.get(module);
      if (known !== undefined) return known;
      const made = new target(module, imports);
      instances.set(module, made);
      return made;
    },
  });
  WebAssembly.validate = (bytes) => hex(bytes) !== RELAXED_MADD && validate(bytes);
  if ('Worker' in globalThis) Object.defineProperty(globalThis, 'SharedArrayBuffer', { value: undefined, configurable: true });
}

function hex(bytes: BufferSource): string {
  if (bytes.byteLength > RELAXED_MADD.length) return '';
  const view = ArrayBuffer.isView(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes);
  return Array.from(view, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

prepare();
