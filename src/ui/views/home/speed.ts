/** The pace of training that was last measured in this browser: what Home estimates from before anything is trained on this visit. */
import * as v from 'valibot';
import { labStore, type LabState } from '../../stores/lab.ts';

const SpeedSchema = v.object({
  engine: v.picklist(['webgpu', 'cpu']),
  /** Of one step. */
  seconds: v.pipe(v.number(), v.minValue(0), v.finite()),
  /** Of one step. */
  rollouts: v.pipe(v.number(), v.integer(), v.minValue(1)),
});
export type Speed = v.InferOutput<typeof SpeedSchema>;

const KEY = 'atelier.speed';

/** Undefined too where the browser keeps nothing. */
export function storedSpeed(): Speed | undefined {
  try {
    return v.parse(SpeedSchema, JSON.parse(localStorage.getItem(KEY) ?? ''));
  } catch {
    return undefined;
  }
}

/** Measured on this visit, with the settings of the current run. */
export function measuredSpeed({ engine, run }: Pick<LabState, 'engine' | 'run'>): Speed | undefined {
  if (engine?.secondsPerStep === undefined || run === undefined) return undefined;
  const { questions, group } = run.settings.grpo;
  return { engine: engine.info.kind, seconds: engine.secondsPerStep, rollouts: questions * group };
}

/** Called once, by the page's entry: keeps what is measured from then on. */
export function keepSpeed(): void {
  labStore.subscribe((state, before) => {
    const speed = measuredSpeed(state);
    if (speed === undefined || (state.engine === before.engine && state.run?.settings === before.run?.settings)) return;
    try {
      localStorage.setItem(KEY, JSON.stringify(speed));
    } catch {
      // It is measured again on the next visit.
    }
  });
}
