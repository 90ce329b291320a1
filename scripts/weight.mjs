/**
 * How much script stands before the first words: the page's entry, the code of the view, and the words of both, each
 * with all that it imports statically, compressed as a server would.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Before a view is readable. In bytes. */
export const MOST = 150_000;

/** What must be there before a view can be read: its chunk, and the parts of the catalogue that it speaks from. */
const VIEWS = {
  home: ['HomeView', 'core', 'home', 'offline'],
  lesson: ['LessonView', 'core', 'lesson', 'glossary'],
};

/**
 * @param {string} dist folder of the build
 * @returns {Map<string, number>} bytes of compressed script before each view, in the language that needs most
 */
export function weigh(dist) {
  const assets = join(dist, 'assets');
  const names = readdirSync(assets).filter((name) => name.endsWith('.js'));
  const cache = new Map();
  const script = (name) => {
    if (!cache.has(name)) {
      const text = readFileSync(join(assets, name));
      const imports = [...text.toString().matchAll(/(?:^|[;}])import(?:[\w$\s{},*]+?from)?\s*["']\.\/([^"']+\.js)["']/g)].map((match) => match[1]);
      cache.set(name, { size: gzipSync(text, { level: 9 }).length, imports });
    }
    return cache.get(name);
  };
  /** A script with all that it imports. */
  const closure = (name, found = new Set()) => {
    if (found.has(name)) return found;
    found.add(name);
    for (const other of script(name).imports) closure(other, found);
    return found;
  };
  const sum = (files) => [...files].reduce((total, name) => total + script(name).size, 0);
  // A chunk bears its name and a hash; the languages' parts of one name differ in the hash alone.
  const called = (name) => names.filter((file) => file.startsWith(`${name}-`) && file.length === name.length + '-12345678.js'.length);

  const entry = /<script[^>]* src="\.\/assets\/([^"]+)"/.exec(readFileSync(join(dist, 'index.html'), 'utf8'))?.[1];
  if (entry === undefined) throw new Error(`${dist}/index.html has no script.`);
  return new Map(Object.entries(VIEWS).map(([view, chunks]) => {
    const files = closure(entry);
    for (const chunk of chunks) {
      const choices = called(chunk);
      if (choices.length === 0) throw new Error(`The build has no chunk ${chunk}.`);
      const largest = choices.reduce((a, b) => (sum(closure(a)) >= sum(closure(b)) ? a : b));
      closure(largest, files);
    }
    return [view, sum(files)];
  }));
}
