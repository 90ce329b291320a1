/** What is left in a worker that was sealed. The attempts are compiled beforehand, as no attacker could have them. */
import { seal } from '../../src/tools/python/sandbox.ts';

declare const self: DedicatedWorkerGlobalScope;

const post = self.postMessage.bind(self);
const names = (): string[] => {
  const found = new Set<string>();
  for (let layer: object | null = globalThis; layer !== null && layer !== Object.prototype; layer = Object.getPrototypeOf(layer) as object | null)
    for (const name of Object.getOwnPropertyNames(layer)) found.add(name);
  return [...found].sort();
};
const make = (maker: object) => (maker as { constructor: (text: string) => unknown }).constructor('return 1');
const attempts: Record<string, () => unknown> = {
  Function: () => make(() => 1),
  AsyncFunction: () => make(Object.getPrototypeOf(async () => Promise.resolve()) as object),
  GeneratorFunction: () => make(Object.getPrototypeOf(function* () { yield 1; }) as object),
  AsyncGeneratorFunction: () => make(Object.getPrototypeOf(async function* () { yield Promise.resolve(1); }) as object),
  eval: () => (globalThis as unknown as { eval(text: string): unknown }).eval('1'),
  fetch: () => fetch('/?leak'),
  Worker: () => new Worker('/?leak'),
  scope: () => (Object.getPrototypeOf(globalThis) as { constructor: { name: string } }).constructor.name.replace('Object', ''),
};

const before = names();
seal();
const outcome = (attempt: () => unknown): string => {
  try {
    return String(attempt());
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
};
post({ before, after: names(), attempts: Object.fromEntries(Object.entries(attempts).map(([name, attempt]) => [name, outcome(attempt)])) });
