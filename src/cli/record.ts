/** `npm run record`: turns a folder that `npm run train` wrote into the recorded run that ships with the page. */
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { StepWarning, SkipReason } from '../grpo/record.ts';
import { decodeStep } from '../formats/rollouts.ts';
import { replayStep } from '../grpo/update.ts';
import { encodeSnapshot, snapshotFile, stepFile, type RecordedFile } from '../lab/recorded.ts';
import type { RunSettings, StepSummary } from '../lab/protocol.ts';
import { startEngine } from '../policy/start.node.ts';
import { readModel } from './models.ts';
import { main, readOptions, UsageError, type Options } from './options.ts';

const OPTIONS: Options = {
  run: { kind: 'text', default: 'runs/arithmetic-base-seed1', help: 'folder with summary.json, metrics.jsonl and rollouts/' },
  full: { kind: 'text', default: '1,5,10,20,40', help: 'steps to ship with all their rollouts' },
  out: { kind: 'text', default: 'public/recorded', help: 'folder to write to' },
};

/** What `npm run train` wrote, as far as it is read here. */
interface Summary {
  readonly settings: RunSettings;
  readonly engine: string;
  readonly adapter: string;
  readonly started: number;
}

main(async () => {
  const values = readOptions('npm run record --', OPTIONS);
  const folder = resolve(values.text('run'));
  const out = resolve(values.text('out'));
  const full = values.text('full').split(',').map(Number);
  const summary = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as Summary;
  const lines = (await readFile(join(folder, 'metrics.jsonl'), 'utf8')).trim().split('\n');
  const steps = lines.map((line): StepSummary => {
    const { step, skipped, warnings, ...metrics } = JSON.parse(line) as Record<string, number> & {
      step: number; skipped?: SkipReason; warnings: StepWarning[];
    };
    return { step, metrics: metrics, ...(skipped === undefined ? {} : { skipped }), warnings };
  });
  const unknown = full.find((step) => !steps.some((s) => s.step === step));
  if (unknown !== undefined) throw new UsageError(`the run has no step ${unknown}`);

  const last = steps.at(-1);
  const reward = last?.metrics['reward'];
  const file: RecordedFile = {
    run: {
      id: 'recorded', started: summary.started, settings: summary.settings, step: last?.step ?? 0, state: 'finished',
      engine: { kind: summary.engine === 'cpu' ? 'cpu' : 'webgpu', adapter: summary.adapter, software: false },
      ...(reward === undefined ? {} : { reward }),
    },
    steps,
    recorded: full,
  };
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'run.json'), `${JSON.stringify(file)}\n`);
  for (const step of full) await copyFile(join(folder, 'rollouts', stepFile(step)), join(out, stepFile(step)));

  // The weights that sampled each of these steps, made again from the rollouts.
  const engine = await startEngine(file.run.engine.kind);
  const { grpo, model } = summary.settings;
  const { checkpoint } = await readModel(model);
  await engine.load(checkpoint);
  if (grpo.beta > 0) await engine.holdReference();
  for (let step = 1; step < Math.max(...full); step++) {
    const record = decodeStep(await readFile(join(folder, 'rollouts', stepFile(step)), 'utf8'), grpo.advantage);
    const skipped = steps.find((s) => s.step === step)?.skipped;
    await replayStep(engine, { ...record, metrics: {}, warnings: [], ...(skipped === undefined ? {} : { skipped }) }, grpo);
    if (full.includes(step + 1)) await writeFile(join(out, snapshotFile(step + 1)), encodeSnapshot(await engine.snapshot()));
  }
  engine.dispose();
  process.stderr.write(`written to ${out}\n`);
});
