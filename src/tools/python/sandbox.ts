/**
 * Takes away from the worker, once Pyodide is loaded, every means of reaching anything outside it. Python code may
 * find its way into JavaScript (Pyodide is built to offer one); it then finds the language itself and nothing else:
 * no network, storage, messages, workers or files, and no way to turn text into code, hence no `import()`.
 */

/** The language, and what Pyodide still uses after it was loaded. Everything else goes. */
const KEPT = new Set(
  `Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error
   AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError globalThis JSON Math Intl
   ArrayBuffer Atomics Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array
   Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set Iterator WeakMap WeakSet WeakRef Proxy Reflect
   FinalizationRegistry decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape isFinite isNaN
   WebAssembly TextDecoder TextEncoder console crypto performance`.split(/\s+/),
);

/** @throws Error where something cannot be taken away. */
export function seal(scope: object = globalThis): void {
  const { crypto, performance } = globalThis;
  const random = crypto.getRandomValues.bind(crypto);
  const now = performance.now.bind(performance);
  const timeOrigin = performance.timeOrigin;

  for (let layer: object | null = scope; layer !== null && layer !== Object.prototype; layer = Object.getPrototypeOf(layer) as object | null)
    for (const key of Reflect.ownKeys(layer)) if (typeof key === 'string' && !KEPT.has(key)) Reflect.deleteProperty(layer, key);
  replace(scope, 'crypto', Object.freeze({ getRandomValues: (view: Uint8Array<ArrayBuffer>) => random(view) }));
  const silent = (): void => undefined;
  replace(scope, 'console', Object.freeze({ log: silent, info: silent, warn: silent, error: silent, debug: silent, trace: silent }));
  replace(scope, 'performance', Object.freeze({ now: () => now(), timeOrigin }));

  // Text becomes code through `eval`, which is gone now, and through the four constructors of functions.
  const refuse = function Function(): never {
    throw new EvalError('text is not run as code here');
  };
  const makers = [() => undefined, async () => Promise.resolve(), function* () { yield; }, async function* () { yield Promise.resolve(); }];
  for (const maker of makers) replace(Object.getPrototypeOf(maker) as object, 'constructor', refuse);
  refuse.prototype = Object.getPrototypeOf(makers[0]) as object;
  // The constructors of the other kinds inherit from the real `Function`, but none of them can be reached any more.
  replace(scope, 'Function', refuse);
  // Stack traces with a handler would hand out the functions that are running.
  replace(Error, 'prepareStackTrace', undefined);

  const left = Object.getOwnPropertyNames(scope).filter((name) => !KEPT.has(name));
  if (left.length > 0) throw new Error(`the sandbox could not be closed: ${left.join(', ')}`);
}

function replace(owner: object, key: string, value: unknown): void {
  Object.defineProperty(owner, key, { value, writable: false, enumerable: false, configurable: false });
}
