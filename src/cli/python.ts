/** Python in Node. */
import type { Python } from '../tools/python/python.ts';
import { createNodePython } from '../tools/python/python.node.ts';

/** @throws PythonUnavailable with the reason. */
export async function startPython(): Promise<Python> {
  const python = createNodePython();
  await python.ready();
  return python;
}
