import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { weigh } from './weight.mjs';

// Random letters do not compress: sizes tell the files apart.
const filler = (bytes) => `"${randomBytes(bytes).toString('base64')}"`;
const files = {
  'index-aaaaaaaa.js': `import{a as e}from"./shared-bbbbbbbb.js";const later=()=>import("./Later-cccccccc.js");${filler(3000)}`,
  'shared-bbbbbbbb.js': `export const a=${filler(2000)}`,
  'Later-cccccccc.js': `import"./shared-bbbbbbbb.js";${filler(9000)}`,
  'HomeView-dddddddd.js': `import{a}from"./shared-bbbbbbbb.js";import * as w from"./widget-eeeeeeee.js";${filler(1000)}`,
  'widget-eeeeeeee.js': `export const w=${filler(500)}`,
  'LessonView-ffffffff.js': filler(700),
  ...Object.fromEntries(['core', 'home', 'offline', 'lesson', 'glossary'].flatMap((part) => [[`${part}-11111111.js`, filler(100)], [`${part}-22222222.js`, filler(400)]])),
};
let dist;

beforeAll(() => {
  dist = mkdtempSync(join(tmpdir(), 'atelier-weight-'));
  mkdirSync(join(dist, 'assets'));
  writeFileSync(join(dist, 'index.html'), '<script type="module" crossorigin src="./assets/index-aaaaaaaa.js"></script>');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dist, 'assets', name), text);
});

afterAll(() => rmSync(dist, { recursive: true }));

test('counts what a view needs before it can be read, once, in the largest language', () => {
  const sizes = (...names) => names.reduce((sum, name) => sum + gzipSync(files[name], { level: 9 }).length, 0);
  expect(Object.fromEntries(weigh(dist))).toEqual({
    home: sizes('index-aaaaaaaa.js', 'shared-bbbbbbbb.js', 'HomeView-dddddddd.js', 'widget-eeeeeeee.js', 'core-22222222.js', 'home-22222222.js', 'offline-22222222.js'),
    lesson: sizes('index-aaaaaaaa.js', 'shared-bbbbbbbb.js', 'LessonView-ffffffff.js', 'core-22222222.js', 'lesson-22222222.js', 'glossary-22222222.js'),
  });
});

test('says when a chunk has another name', () => {
  rmSync(join(dist, 'assets', 'LessonView-ffffffff.js'));
  expect(() => weigh(dist)).toThrow('LessonView');
});
