/** The figures: each drives a place and says what came out, beside the goal. */
import type { Place } from './places.node.ts';
import { median, type Figure } from './figure.ts';
import type { Burst, Name } from './rig.ts';
import { BENCH, TOY, trainingFlops, wordsOf, type Work } from './work.ts';

export interface Context {
  readonly place: Place;
  readonly adapter: string;
  readonly software: boolean;
  readonly log: (line: string) => void;
}

/** Times are seconds of the wall on a GPU, processor seconds where the adapter is the processor itself. */
interface Cost {
  readonly wall: number;
  readonly cpu: number;
}

const PEERS: readonly Name[] = ['jax-js webgpu', 'TensorFlow.js webgpu'];

async function costOf<T>(place: Place, work: () => Promise<T & { readonly seconds: number }>): Promise<Cost & { readonly result: T }> {
  const before = place.cpuSeconds();
  const result = await work();
  return { wall: result.seconds, cpu: place.cpuSeconds() - before, result };
}

const valueOf = ({ software }: Context, cost: Cost): number => (software ? cost.cpu : cost.wall);
const unitOf = ({ software }: Context): string => (software ? 'CPU-s' : 's');

/** What is known of a contender after its turns. */
interface Seen {
  readonly name: Name;
  readonly first: Cost;
  readonly losses: number[];
  readonly costs: Cost[];
  readonly per: number;
}

/** Starts every contender, then takes turns: ours before and after each peer. A contender that fails is left out, with its reason. */
async function takeTurns(context: Context, ours: Name, peers: readonly Name[], work: Work, rounds: number): Promise<{ seen: Map<Name, Seen>; failed: Map<Name, string> }> {
  const { place, log } = context;
  const seen = new Map<Name, Seen>();
  const failed = new Map<Name, string>();
  const turn = async (name: Name): Promise<void> => {
    const known = seen.get(name);
    if (known === undefined) return;
    const cost = await costOf<Burst>(place, () => place.rig.train(name, known.per));
    known.costs.push({ wall: cost.wall / known.per, cpu: cost.cpu / known.per });
    known.losses.push(...cost.result.losses);
    log(`  ${name}: ${(cost.wall / known.per).toFixed(3)} s a step, ${(cost.cpu / known.per).toFixed(3)} CPU-s`);
  };
  for (const name of [ours, ...peers]) {
    try {
      const first = await costOf<Burst>(place, () => place.rig.startTrainer(name, work));
      log(`  ${name}: first step ${first.wall.toFixed(2)} s`);
      const second = await costOf<Burst>(place, () => place.rig.train(name, 1));
      // Bursts of a third of a second: long enough for the clocks, short enough to alternate.
      const per = Math.min(50, Math.max(1, Math.ceil(0.3 / second.wall)));
      seen.set(name, { name, first, losses: [...first.result.losses, ...second.result.losses], costs: per === 1 ? [{ wall: second.wall, cpu: second.cpu }] : [], per });
    } catch (error) {
      failed.set(name, error instanceof Error ? error.message : String(error));
      log(`  ${name}: ${failed.get(name) ?? ''}`);
    }
  }
  for (let round = 0; round < rounds; round++) {
    for (const peer of peers) {
      await turn(ours);
      // The slowest peers are not asked again: a step of theirs takes longer than all of ours.
      const slow = (seen.get(peer)?.costs[0]?.wall ?? 0) > 12;
      if (!slow || (round === 0 && seen.get(peer)?.costs.length === 0)) await turn(peer);
    }
  }
  await turn(ours);
  for (const name of seen.keys()) await place.rig.stop(name);
  return { seen, failed };
}

/** The largest difference of two loss curves where both are known. */
function curveDifference(a: readonly number[], b: readonly number[]): number {
  return Math.max(...a.slice(0, b.length).map((loss, i) => Math.abs(loss - (b[i] ?? NaN))));
}

async function trainingFigure(context: Context, figure: string, work: Work, ours: Name, peers: readonly (readonly [Name, number | undefined])[], rounds: number): Promise<Figure[]> {
  const { seen, failed } = await takeTurns(context, ours, peers.map(([name]) => name), work, rounds);
  const own = seen.get(ours);
  const unit = unitOf(context);
  const adapter = ours === 'cpu' ? 'CPU (WebAssembly)' : context.adapter;
  const shared = { figure, work: wordsOf(work), adapter, unit: `${unit} a step` };
  if (own === undefined) return [{ ...shared, ours: null, peer: null, peerName: null, ratio: null, goal: null, met: null, note: failed.get(ours) ?? '' }];
  const value = median(own.costs.map((cost) => valueOf(context, cost)));
  return peers.map(([name, goal]): Figure => {
    const words = goal === undefined ? null : `≥ ${goal} × ${name}`;
    const peer = seen.get(name);
    if (peer === undefined) return { ...shared, ours: value, peer: null, peerName: name, ratio: null, goal: words, met: null, note: failed.get(name) ?? '' };
    const difference = curveDifference(own.losses, peer.losses);
    const firsts = `first step ${own.first.wall.toFixed(1)} s, ${name} ${peer.first.wall.toFixed(1)} s`;
    const wall = `wall ${median(own.costs.map((c) => c.wall)).toPrecision(3)} s, ${median(peer.costs.map((c) => c.wall)).toPrecision(3)} s`;
    const theirs = median(peer.costs.map((cost) => valueOf(context, cost)));
    // No claim without the same curve.
    if (!(difference < 2e-3)) return { ...shared, ours: value, peer: theirs, peerName: name, ratio: null, goal: words, met: null, note: `no claim: the losses differ by ${difference.toExponential(1)}` };
    const ratio = theirs / value;
    return {
      ...shared, ours: value, peer: theirs, peerName: name, ratio, goal: words, met: goal === undefined ? null : ratio >= goal,
      note: `${firsts}; ${wall}; ${Math.min(own.losses.length, peer.losses.length)} losses within ${difference.toExponential(0)}`,
    };
  });
}

export async function training(context: Context): Promise<Figure[]> {
  const [jax, tf] = context.software ? [2, 8] : [4, 8];
  return trainingFigure(context, 'training step', BENCH, 'webgpu', [['jax-js webgpu', jax], ['TensorFlow.js webgpu', tf]], context.software ? 1 : 5);
}

export async function toy(context: Context): Promise<Figure[]> {
  const goal = context.software ? 2 : 4;
  return trainingFigure(context, 'training step, toy', TOY, 'webgpu', PEERS.map((name) => [name, goal]), context.software ? 2 : 5);
}

/** Our CPU engine is made of jax-js: what its threads and shapes are worth against plain use of the library. */
export async function cpu(context: Context): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, work] of [['CPU engine, training step', BENCH], ['CPU engine, training step, toy', TOY]] as const) {
    figures.push(...await trainingFigure(context, name, work, 'cpu', [['jax-js wasm', undefined]], 3));
    await context.place.fresh();
  }
  return figures;
}

export async function decoding(context: Context): Promise<Figure[]> {
  const { place, log } = context;
  const goal = context.software ? 3 : 8;
  const work: Work = { ...BENCH, length: 64 };
  const figures: Figure[] = [];
  for (const rows of [1, 48, 96]) {
    const names = ['webgpu', 'jax-js webgpu'] as const;
    const costs = new Map<Name, Cost[]>(names.map((name) => [name, []]));
    const firsts: number[] = [];
    const tokens: (readonly (readonly number[])[])[] = [];
    for (const name of names) {
      const first = await costOf(place, () => place.rig.startDecoder(name, work, rows));
      firsts.push(first.wall);
      tokens.push(first.result.tokens);
    }
    for (const name of ['webgpu', 'jax-js webgpu', 'webgpu', ...(context.software ? [] : ['jax-js webgpu', 'webgpu'] as const)] as const) {
      const cost = await costOf(place, () => place.rig.decode(name, rows));
      costs.get(name)?.push(cost);
      log(`  ${name}, ${rows} rows: ${cost.wall.toFixed(2)} s for 63 tokens, ${cost.cpu.toFixed(2)} CPU-s`);
    }
    for (const name of names) await place.rig.stop(name);
    const [ours, theirs] = names.map((name) => (1000 * median((costs.get(name) ?? []).map((cost) => valueOf(context, cost)))) / 63) as [number, number];
    const [own, other] = tokens as [readonly (readonly number[])[], readonly (readonly number[])[]];
    const same = own.flatMap((row, r) => row.map((id, t) => (id === other[r]?.[t] ? 1 : 0))).reduce<number>((a, b) => a + b, 0) / (rows * 64);
    const words = { figure: `cached decoding, ${rows}`, work: `${rows} rows to 64 tokens, 4 layers, d 128`, adapter: context.adapter, ours, peer: theirs, peerName: 'jax-js webgpu', goal: `≥ ${goal} × jax-js webgpu`, unit: context.software ? 'CPU-ms a token step' : 'ms a token step' };
    figures.push(same < 0.95
      ? { ...words, ratio: null, met: null, note: `no claim: only ${(100 * same).toFixed(0)} % of the tokens agree` }
      : { ...words, ratio: theirs / ours, met: theirs / ours >= goal, note: `first ${firsts.map((s) => s.toFixed(1)).join(' and ')} s; ${(100 * same).toFixed(1)} % of the tokens agree` });
    await place.fresh();
  }
  return figures;
}

export async function matmul(context: Context): Promise<Figure[]> {
  const { software } = context;
  const report = await context.place.rig.matmul(software ? 512 : 2048, BENCH);
  const cubes = [report];
  // Large GPUs are not filled by 2048³.
  if (!software && report.fma > 20_000) cubes.push(await context.place.rig.matmul(4096, BENCH));
  const figures = cubes.flatMap(({ cube, cubeGflops, fma, naiveGflops, variant, error }): Figure[] => {
    const shared = { figure: 'matmul cube', work: `${cube}³, ${variant}`, adapter: context.adapter, ours: cubeGflops, unit: 'GFLOP/s' };
    const share = cubeGflops / fma;
    return [
      { ...shared, peer: fma, peerName: 'multiply-adds of the adapter', ratio: share, goal: software ? null : '≥ 0.6 of the multiply-adds', met: software ? null : share >= 0.6, note: `within ${error.toExponential(0)} of float64` },
      { ...shared, peer: naiveGflops, peerName: 'naive kernel', ratio: cubeGflops / naiveGflops, goal: software ? '≥ 3.5 GFLOP/s' : null, met: software ? cubeGflops >= 3.5 : null },
    ];
  });
  return [...figures, ...report.shapes.map(({ name, gflops }): Figure => ({
    figure: 'matmul, shapes of the model', work: `${BENCH.rows * BENCH.length} tokens, ${name}`, adapter: context.adapter, ours: gflops, peer: report.fma,
    peerName: 'multiply-adds of the adapter', ratio: gflops / report.fma, goal: null, met: null, unit: 'GFLOP/s',
  }))];
}

export async function calls(context: Context): Promise<Figure[]> {
  const { rig } = context.place;
  // Calls depend on the layers, not on sizes: small ones spare the slow peers.
  const work: Work = { ...BENCH, rows: 4, length: 16 };
  const counted = new Map<Name, Awaited<ReturnType<typeof rig.calls>>>();
  for (const name of ['webgpu', ...PEERS] as const) {
    try {
      await rig.startTrainer(name, work);
      await rig.train(name, 2);
      counted.set(name, await rig.calls(name));
      await rig.stop(name);
    } catch (error) {
      context.log(`  ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const rows = [['submits', 2], ['dispatches', 140], ['buffers', 0], ['bindGroups', 0], ['pipelines', 0], ['awaited', 0]] as const;
  const names = { submits: 'submits', dispatches: 'dispatches', buffers: 'new buffers', bindGroups: 'new bind groups', pipelines: 'pipelines compiled', awaited: 'awaited readbacks' };
  return rows.flatMap(([key, most]) => PEERS.map((peer): Figure => {
    const [ours, theirs] = [counted.get('webgpu')?.[key] ?? null, counted.get(peer)?.[key] ?? null];
    return {
      figure: `${names[key]} a training step`, work: '4 layers, d 128', adapter: context.adapter, ours, peer: theirs, peerName: peer,
      ratio: ours === null || theirs === null || ours === 0 ? null : theirs / ours, goal: `≤ ${most}`, met: ours === null ? null : ours <= most, unit: 'a step',
    };
  }));
}

export async function python(context: Context): Promise<Figure[]> {
  const { batch, single } = await context.place.rig.python();
  const [ours, peer] = [median(batch), median(single)];
  return [{
    figure: 'Python', work: '48 calls of one turn, once warm', adapter: 'Pyodide', ours, peer, peerName: 'the same calls one at a time', ratio: peer / ours,
    goal: '≤ 15 ms', met: ours <= 15, unit: 'ms', note: `slowest of ${batch.length} turns ${Math.max(...batch).toFixed(1)} ms`,
  }];
}

export async function loop(context: Context): Promise<Figure[]> {
  const figures: Figure[] = [];
  const runs = context.software ? [['cpu', 40]] as const : [['webgpu', 40], ['cpu', 40]] as const;
  for (const [name, steps] of runs) {
    const before = context.place.cpuSeconds();
    const report = await context.place.rig.loop(name, steps);
    const spent = context.place.cpuSeconds() - before;
    const total = report.steps.reduce((a, b) => a + b, 0);
    const share = (seconds: number): string => `${((100 * seconds) / total).toFixed(0)} %`;
    const engine = (report.sampling + report.update) / total;
    const most = name === 'cpu' ? 30 : 10;
    const shared = { work: `${steps} steps of 16 × 6, ${name === 'cpu' ? 'CPU engine' : 'WGSL engine'}`, adapter: report.adapter, peer: null, peerName: null, ratio: null };
    figures.push(
      {
        ...shared, figure: 'the whole loop', ours: total, goal: `< ${most} s`, met: total < most, unit: 's',
        note: `first step ${(report.steps[0] ?? NaN).toFixed(2)} s, median ${median(report.steps).toFixed(3)} s; ${spent.toFixed(0)} CPU-s; reward ${report.reward.map((r) => r.toFixed(2)).join(' → ')}`,
      },
      {
        ...shared, figure: 'the whole loop, share', ours: 100 * engine, goal: name === 'cpu' ? null : '≥ 80 %', met: name === 'cpu' ? null : engine >= 0.8, unit: '%',
        note: `sampling ${share(report.sampling)}, update ${share(report.update)}, Python ${share(report.python)}`,
      },
    );
    await context.place.fresh();
  }
  return figures;
}

/** A point of a curve of growth: cost of a training step relative to the smallest, and the work likewise. */
export interface Growth {
  readonly engine: string;
  readonly axis: string;
  readonly size: number;
  readonly flops: number;
  readonly seconds: number;
  readonly unit: string;
}

const BASE: Work = { layers: 2, width: 64, intermediate: 128, heads: 4, vocab: 112, rows: 32, length: 32 };

export async function growth(context: Context): Promise<{ figures: Figure[]; points: Growth[] }> {
  const { place, log, software } = context;
  const factor = software ? 1 : 4;
  const base: Work = { ...BASE, rows: BASE.rows * factor };
  const axes: [axis: string, at: (times: number) => Work][] = [
    ['batch', (n) => ({ ...base, rows: base.rows * n })], ['length', (n) => ({ ...base, length: base.length * n })],
    ['width', (n) => ({ ...base, width: base.width * n, intermediate: base.intermediate * n, heads: base.heads * n })], ['layers', (n) => ({ ...base, layers: base.layers * n })],
  ];
  const points: Growth[] = [];
  const figures: Figure[] = [];
  for (const engine of ['webgpu', 'cpu'] as const) {
    for (const [axis, at] of axes) {
      const costs: number[] = [];
      for (const times of [1, 2, 4]) {
        const work = at(times);
        await place.rig.startTrainer(engine, work);
        const { seconds } = await place.rig.train(engine, 1);
        const per = Math.min(50, Math.max(1, Math.ceil(0.6 / seconds)));
        const samples: number[] = [];
        for (let i = 0; i < 3; i++) {
          const cost = await costOf<Burst>(place, () => place.rig.train(engine, per));
          samples.push(valueOf(context, cost) / per);
        }
        await place.rig.stop(engine);
        const cost = median(samples);
        costs.push(cost);
        points.push({ engine: engine === 'cpu' ? 'CPU engine' : `WGSL, ${context.adapter}`, axis, size: times, flops: trainingFlops(work), seconds: cost, unit: unitOf(context) });
        log(`  ${engine}, ${axis} × ${times}: ${cost.toFixed(3)} ${unitOf(context)}`);
      }
      const [workRatio, ratio] = [trainingFlops(at(4)) / trainingFlops(at(1)), (costs[2] ?? NaN) / (costs[0] ?? NaN)];
      figures.push({
        figure: `growth, ${axis}`, work: `${axis} × 4 from ${wordsOf(base)}: ${workRatio.toFixed(1)} times the operations`, adapter: engine === 'cpu' ? 'CPU (WebAssembly)' : context.adapter,
        ours: ratio, peer: null, peerName: null, ratio: null, goal: `≤ ${workRatio.toFixed(1)} (+ 5 %)`, met: ratio <= 1.05 * workRatio, unit: 'times the cost',
        note: `${costs.map((c) => c.toPrecision(3)).join(', ')} ${unitOf(context)} a step`,
      });
      await place.fresh();
    }
  }
  return { figures, points };
}
