import { describe, expect, it } from 'vitest';
import { neighbour, stepBy, unitAfter, unitIn, unitsOf, type TransportSource } from './transport.ts';

/** Ten tokens in turns that begin at 0, 4 and 7, the second rollout of three. */
function source(at: number): { readonly source: TransportSource; readonly moves: unknown[] } {
  const moves: unknown[] = [];
  return {
    moves,
    source: {
      at,
      count: 10,
      units: [{ unit: 'token', stops: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }, { unit: 'turn', stops: [0, 4, 7] }],
      onMove: (to) => moves.push(to),
      beyond: { rollout: { previous: () => moves.push('previous'), next: undefined } },
      words: String,
    },
  };
}

function after(at: number, unit: 'token' | 'turn' | 'rollout', direction: 1 | -1): unknown {
  const { source: it, moves } = source(at);
  stepBy(it, unit, direction)?.();
  return moves[0];
}

describe('the transport', () => {
  it('finds the stop after and before any place, a stop or not', () => {
    expect([neighbour([0, 4, 7], 4, 1), neighbour([0, 4, 7], 5, 1), neighbour([0, 4, 7], 7, 1)]).toEqual([7, 7, undefined]);
    expect([neighbour([0, 4, 7], 4, -1), neighbour([0, 4, 7], 5, -1), neighbour([0, 4, 7], 0, -1)]).toEqual([0, 4, undefined]);
  });

  it('steps by the unit, and ends at the ends', () => {
    expect([after(5, 'token', 1), after(5, 'turn', 1), after(5, 'turn', -1)]).toEqual([6, 7, 4]);
    expect([after(9, 'token', 1), after(8, 'turn', 1), after(0, 'token', -1)]).toEqual([undefined, undefined, undefined]);
  });

  it('leads beyond where there is something', () => {
    expect([after(5, 'rollout', -1), after(5, 'rollout', 1)]).toEqual(['previous', undefined]);
  });

  it('takes the unit that was chosen last among those of the view', () => {
    const { source: it } = source(0);
    expect(unitsOf(it)).toEqual(['token', 'turn', 'rollout']);
    expect([unitIn(it, []), unitIn(it, ['operation', 'turn', 'rollout'])]).toEqual(['token', 'turn']);
    expect([unitAfter(it, 'turn'), unitAfter(it, 'rollout')]).toEqual(['rollout', 'token']);
  });
});
