/** `npm run bench`: our engines beside others, on the same model, batch and adapter, in one run. See README.md. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { main, readOptions, UsageError, type Options } from '../src/cli/options.ts';
import { growthChart } from './chart.ts';
import { calls, cpu, decoding, growth, loop, matmul, python, toy, training, type Context } from './figures.node.ts';
import { markdownTable, textTable, type Figure } from './figure.ts';
import { page } from './page.node.ts';
import { inBrowser, inNode } from './places.node.ts';

const NAMES = ['matmul', 'calls', 'decoding', 'toy', 'training', 'cpu', 'python', 'loop', 'growth', 'page'] as const;

const OPTIONS: Options = {
  where: { kind: 'text', default: 'browser', choices: ['browser', 'node'], help: 'headless Chromium, or this process on Dawn' },
  adapter: { kind: 'text', default: 'swiftshader', choices: ['swiftshader', 'hardware'], help: 'of the browser; in Node it is the one that the Vulkan driver brings' },
  only: { kind: 'text', default: '', help: `figures to take, e.g. toy,calls (${NAMES.join(', ')}; all where empty)` },
  json: { kind: 'text', default: '', help: 'file for the list of figures' },
  results: { kind: 'text', default: '', help: 'folder for table, list and curves of growth, e.g. bench/results' },
};

main(async () => {
  const values = readOptions('npm run bench --', OPTIONS);
  const chosen = values.text('only') === '' ? [...NAMES] : values.text('only').split(',');
  for (const name of chosen) if (!(NAMES as readonly string[]).includes(name)) throw new UsageError(`--only: no figure ${name}; there are ${NAMES.join(', ')}`);
  const where = values.text('where') as 'browser' | 'node';
  const flags = values.text('adapter') as 'swiftshader' | 'hardware';
  const log = (line: string): void => { process.stderr.write(`${line}\n`); };
  const place = where === 'node' ? inNode() : await inBrowser(flags);
  const { adapter, software } = await place.rig.adapter();
  log(`${adapter}${software ? ' (software: processor seconds are compared)' : ''}, ${where === 'node' ? 'Node on Dawn' : 'Chromium'}, ${cpus().length} × ${cpus()[0]?.model ?? '?'}`);
  const context: Context = { place, adapter, software, log };
  const makers: Record<(typeof NAMES)[number], () => Promise<Figure[]>> = {
    matmul: () => matmul(context), calls: () => calls(context), decoding: () => decoding(context), toy: () => toy(context), training: () => training(context),
    cpu: () => cpu(context), python: () => python(context), loop: () => loop(context),
    growth: async () => {
      const { figures, points } = await growth(context);
      await save('growth', `${JSON.stringify(points, null, 1)}\n`, 'json');
      await save('growth', growthChart(points), 'svg');
      return figures;
    },
    page: () => (where === 'node' ? Promise.resolve([]) : page(flags, log)),
  };
  const slug = `${where}-${adapter.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '').slice(0, 40)}`;
  const results = values.text('results');
  async function save(name: string, text: string, ending: string): Promise<void> {
    if (results === '') return;
    await mkdir(results, { recursive: true });
    await writeFile(join(results, `${name}-${slug}.${ending}`), text);
  }

  /** Figures of earlier runs in the same folder stay, where this run does not take them anew. */
  const kept = results === '' ? [] : ((await readFile(join(results, `figures-${slug}.json`), 'utf8').then(JSON.parse, () => [])) as Figure[])
    .filter(({ group = '' }) => !chosen.includes(group));
  const order = (list: readonly Figure[]): Figure[] => NAMES.flatMap((name) => list.filter(({ group }) => group === name));
  const figures: Figure[] = [];
  for (const name of NAMES.filter((known) => chosen.includes(known))) {
    log(name);
    try {
      figures.push(...(await makers[name]()).map((figure) => ({ group: name, ...figure })));
    } catch (error) {
      const note = error instanceof Error ? error.message.split('\n')[0] ?? '' : String(error);
      log(`  failed: ${note}`);
      figures.push({ group: name, figure: name, work: '', adapter, ours: null, peer: null, peerName: null, ratio: null, goal: null, met: null, unit: '', note });
    }
    await place.fresh();
    const list = `${JSON.stringify(figures, null, 1)}\n`;
    // After each figure: a run that is cut short leaves what it has.
    if (values.text('json') !== '') {
      await mkdir(dirname(resolve(values.text('json'))), { recursive: true });
      await writeFile(values.text('json'), list);
    }
    const head = `${adapter}, ${where === 'node' ? 'Node on Dawn' : 'headless Chromium'}, ${cpus().length} × ${cpus()[0]?.model ?? '?'}\n\n`;
    await save('figures', `${JSON.stringify(order([...kept, ...figures]), null, 1)}\n`, 'json');
    await save('figures', `${head}${markdownTable(order([...kept, ...figures]))}\n`, 'md');
  }
  await place.close();
  process.stdout.write(`${textTable(figures)}\n`);
});
