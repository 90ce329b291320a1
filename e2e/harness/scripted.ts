/** The page on the scripted lab, with a recorded run of one's own: any state can be had at once. */
import type { Page } from '@playwright/test';
import { build } from 'vite';
import { encodeStep } from '../../src/formats/rollouts.ts';
import type { StepRecord } from '../../src/grpo/record.ts';
import { Tokenizer } from '../../src/policy/tokenizer.ts';
import { PRESET_SETTINGS } from '../../src/ui/views/train/presets.ts';

export const SETTINGS = PRESET_SETTINGS.paper;

/** The scripted lab as one script, to be added to a page before its own. */
export async function scriptedLab(): Promise<string> {
  const entry = new URL('../../src/ui/testing/install-fake.ts', import.meta.url).pathname;
  const made = await build({ configFile: false, logLevel: 'error', build: { write: false, lib: { entry, formats: ['iife'], name: 'fake' } } });
  const files = (Array.isArray(made) ? made : [made]).flatMap((output) => ('output' in output ? output.output : []));
  const chunk = files.find((file) => file.type === 'chunk');
  if (chunk === undefined) throw new Error('the scripted lab was not bundled');
  return chunk.code;
}

/** Lets the page find these steps as its recorded run. */
export async function serveRecorded(page: Page, records: readonly StepRecord[]): Promise<void> {
  const steps = records.map(({ step }) => step);
  const file = {
    run: { id: 'recorded', started: 0, settings: { ...SETTINGS, steps: Math.max(...steps) }, step: Math.max(...steps), state: 'finished', engine: { kind: 'cpu', adapter: 'CPU', software: false } },
    steps: records.map(({ step, metrics, warnings }) => ({ step, metrics, warnings })),
    recorded: steps,
  };
  await page.route('**/recorded/*', (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? '';
    const record = records.find(({ step }) => name === `step_${String(step).padStart(5, '0')}.jsonl`);
    return route.fulfill({ body: record === undefined ? JSON.stringify(file) : encodeStep(record, new Tokenizer()) });
  });
}
