import { describe, expect, it, vi } from 'vitest';
import { PROTOCOL_VERSION, type Command, type LabEvent } from '../lab/protocol.ts';
import { connectLab, type LabPort } from './lab-client.ts';

function port(): { it: LabPort; sent: Command[]; say: (event: LabEvent) => void; die: () => void } {
  const target = new EventTarget();
  const sent: Command[] = [];
  return {
    sent,
    say: (data) => target.dispatchEvent(new MessageEvent('message', { data })),
    die: () => target.dispatchEvent(new Event('error')),
    it: Object.assign(target, { postMessage: (command: Command) => void sent.push(command), terminate: () => undefined }) as unknown as LabPort,
  };
}

const progress = (rollouts: number): LabEvent => ({ type: 'progress', phase: 'sampling', rollouts, of: 96 });

describe('the port to the lab', () => {
  it('says hello first, with the address of the assets', () => {
    const { it: fake, sent } = port();
    connectLab({ spawn: () => fake, assets: 'https://x/y/', engine: 'cpu', onEvents: () => undefined, onFailure: () => undefined });
    expect(sent).toEqual([{ type: 'hello', version: PROTOCOL_VERSION, assets: 'https://x/y/', engine: 'cpu' }]);
  });

  it('hands events on in bundles, in order', () => {
    vi.useFakeTimers();
    const { it: fake, say } = port();
    const bundles: (readonly LabEvent[])[] = [];
    connectLab({ spawn: () => fake, assets: '', engine: 'auto', onEvents: (events) => bundles.push(events), onFailure: () => undefined });
    for (let i = 0; i < 30; i++) say(progress(i));
    expect(bundles).toEqual([]);
    vi.advanceTimersByTime(100);
    say(progress(30));
    vi.advanceTimersByTime(100);
    vi.useRealTimers();
    expect(bundles.map((b) => b.length)).toEqual([30, 1]);
    expect(bundles.flat()).toEqual(Array.from({ length: 31 }, (_, i) => progress(i)));
  });

  it('reports a worker that dies', () => {
    const { it: fake, die } = port();
    let failures = 0;
    connectLab({ spawn: () => fake, assets: '', engine: 'auto', onEvents: () => undefined, onFailure: () => failures++ });
    die();
    expect(failures).toBe(1);
  });
});
