/** What the peers expect of a browser and Node 20 lacks: iterator helpers, `navigator.gpu` and its flags. */
import { globals } from 'webgpu';

const iterators = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as Record<string, unknown>;

// Eager, which is enough for what jax-js does with them.
for (const name of ['map', 'filter', 'flatMap', 'some', 'every', 'find', 'reduce', 'forEach'] as const) {
  iterators[name] ??= function eager(this: Iterable<unknown>, ...args: unknown[]): unknown {
    const values = [...this] as unknown as Record<string, (...given: unknown[]) => unknown>;
    return values[name]?.(...args);
  };
}
iterators['toArray'] ??= function toArray(this: Iterable<unknown>): unknown[] {
  return [...this];
};

/** Gives this process Dawn's GPU. A browser stays what it is. */
export function pretendBrowser(gpu: GPU): void {
  Object.assign(globalThis, globals);
  Object.defineProperty(globalThis, 'navigator', { value: { ...(globalThis as { navigator?: object }).navigator, gpu, userAgent: 'Node' }, configurable: true });
}
