/** The scripted lab with a microscope that answers at once: made-up distributions, for measuring the page alone. */
import type { Command, LabEvent } from '../../src/lab/protocol.ts';
import { FakeLab } from '../../src/ui/testing/fake-lab.ts';
import { PRESET_SETTINGS } from '../../src/ui/views/train/presets.ts';

const VOCABULARY = 107;

class ScoringWorker extends FakeLab {
  constructor() {
    super({ pace: 40 }, PRESET_SETTINGS.paper);
  }

  override postMessage(command: Command): void {
    if (command.type !== 'inspect' || command.inspection.kind !== 'scores') {
      super.postMessage(command);
      return;
    }
    const { rows, alternatives: k = 0 } = command.inspection;
    const event: LabEvent = {
      type: 'inspected',
      id: command.id,
      kind: 'scores',
      result: {
        rows: rows.map((tokens) => ({
          logProbs: Float32Array.from(tokens, (_, t) => (t === 0 ? NaN : -1 - (t % 3))),
          entropy: Float32Array.from(tokens, (_, t) => (t === 0 ? NaN : (t % 10) / 5)),
          ...(k === 0 ? {} : {
            alternatives: {
              ids: Uint32Array.from({ length: tokens.length * k }, (_, i) => (Math.floor(i / k) * 7 + (i % k)) % VOCABULARY),
              logProbs: Float32Array.from({ length: tokens.length * k }, (_, i) => -0.7 * ((i % k) + 1)),
            },
          }),
        })),
        provenance: { engine: { kind: 'cpu', adapter: 'none', software: false }, snapshot: 0, replayed: 0, check: undefined },
      },
    };
    setTimeout(() => {
      this.dispatchEvent(new MessageEvent('message', { data: event }));
    }, 5);
  }
}

Object.defineProperty(window, 'Worker', { value: ScoringWorker });
