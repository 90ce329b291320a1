/** The bench's policy in jax-js, as one would write it there: its own attention and autodiff, everything jitted. */
import { blockUntilReady, defaultDevice, init, jit, nn, numpy as np, valueAndGrad, type Device } from '@jax-js/jax';
import type { Decoder, Trainer } from '../contender.ts';
import { ADAMW, peerParameters, rotaryTables, type Work } from '../work.ts';

type Tensor = np.Array;
interface Layer { inputNorm: Tensor; q: Tensor; k: Tensor; v: Tensor; o: Tensor; postNorm: Tensor; gate: Tensor; up: Tensor; down: Tensor }
interface Cache { [name: string]: Tensor; keys: Tensor; values: Tensor }

async function use(device: Device): Promise<void> {
  const ready = await init(device);
  if (!ready.includes(device)) throw new Error(`jax-js has no ${device} here`);
  defaultDevice(device);
}

const int = (values: ArrayLike<number>, shape: number[]): Tensor => np.array(Int32Array.from(values), { shape, dtype: np.int32 });
const float = (data: Float32Array, shape: readonly number[]): Tensor => np.array(data, { shape: [...shape] });

function split(parameters: readonly Tensor[]): { embedding: Tensor; layers: Layer[]; norm: Tensor } {
  const layers: Layer[] = [];
  for (let at = 1; at + 9 < parameters.length; at += 9) {
    const [inputNorm, q, k, v, o, postNorm, gate, up, down] = parameters.slice(at, at + 9) as [Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor];
    layers.push({ inputNorm, q, k, v, o, postNorm, gate, up, down });
  }
  return { embedding: parameters[0] as Tensor, layers, norm: parameters.at(-1) as Tensor };
}

function rmsNorm(x: Tensor, gain: Tensor): Tensor {
  const scale = np.reciprocal(np.sqrt(np.mean(np.square(x.ref), -1, { keepdims: true }).add(1e-5)));
  return x.mul(scale).mul(gain);
}

/** x [.., heads, head], cos and sin [.., 1, 2, head / 2]; the first half of the sines is negative. */
function rotate(x: Tensor, cos: Tensor, sin: Tensor): Tensor {
  const halves = x.reshape([...x.shape.slice(0, -1), 2, (x.shape.at(-1) ?? 0) / 2]);
  return halves.ref.mul(cos).add(np.flip(halves, -2).mul(sin)).reshape(x.shape);
}

function feedForward(x: Tensor, { gate, up, down }: Layer): Tensor {
  return np.matmul(nn.silu(np.matmul(x.ref, gate)).mul(np.matmul(x, up)), down);
}

function tables(work: Work): { cos: Tensor; sin: Tensor } {
  const { cos, sin } = rotaryTables(work);
  const shape = [work.length, 1, work.width / work.heads / 2];
  const [c, s] = [float(cos, shape), float(sin, shape)];
  return { cos: np.stack([c.ref, c], 2), sin: np.stack([s.ref.mul(-1), s], 2) };
}

/** Mean of −log π over all tokens but the first of each row. tokens and targets [rows, length]. */
function lossOf(work: Work, parameters: Tensor[], tokens: Tensor, targets: Tensor): Tensor {
  const { rows, length, width, heads, vocab } = work;
  const { embedding, layers, norm } = split(parameters);
  const { cos, sin } = tables(work);
  const headsOf = (x: Tensor): Tensor => x.reshape([rows, length, heads, width / heads]);
  let x = np.matmul(nn.oneHot(tokens, vocab), embedding.ref);
  for (const layer of layers) {
    const n = rmsNorm(x.ref, layer.inputNorm);
    const q = rotate(headsOf(np.matmul(n.ref, layer.q)), cos.ref, sin.ref);
    const k = rotate(headsOf(np.matmul(n.ref, layer.k)), cos.ref, sin.ref);
    const v = headsOf(np.matmul(n, layer.v));
    x = x.add(np.matmul(nn.dotProductAttention(q, k, v, { isCausal: true }).reshape([rows, length, width]), layer.o));
    x = x.ref.add(feedForward(rmsNorm(x, layer.postNorm), layer));
  }
  for (const table of [cos, sin]) table.dispose();
  const logProbs = nn.logSoftmax(np.matmul(rmsNorm(x, norm), np.transpose(embedding)));
  const counted = float(Float32Array.from({ length }, (_, t) => (t < length - 1 ? -1 / (rows * (length - 1)) : 0)), [length, 1]);
  return np.sum(logProbs.mul(nn.oneHot(targets, vocab)).mul(counted));
}

export async function jaxTrainer(device: Device, work: Work): Promise<Trainer> {
  await use(device);
  const { learningRate, beta1, beta2, epsilon, weightDecay, maxGradNorm } = ADAMW;
  const given = peerParameters(work);
  const program = jit((parameters: Tensor[], m: Tensor[], v: Tensor[], tokens: Tensor, targets: Tensor, correction1: Tensor, correction2: Tensor) => {
    const [loss, gradients] = valueAndGrad((p: Tensor[], x: Tensor, y: Tensor) => lossOf(work, p, x, y))(parameters.map((p) => p.ref), tokens, targets) as [Tensor, Tensor[]];
    const norm = np.sqrt(gradients.map((g) => np.sum(np.square(g.ref))).reduce((a, b) => a.add(b)));
    const scale = np.minimum(np.reciprocal(norm).mul(maxGradNorm), 1);
    const next = gradients.map((gradient, i) => {
      const g = gradient.mul(scale.ref);
      const [p, before, squares] = [parameters[i], m[i], v[i]] as [Tensor, Tensor, Tensor];
      const mean = before.mul(beta1).add(g.ref.mul(1 - beta1));
      const square = squares.mul(beta2).add(np.square(g).mul(1 - beta2));
      const update = mean.ref.mul(correction1.ref).mul(np.reciprocal(np.sqrt(square.ref.mul(correction2.ref)).add(epsilon)));
      const kept = given[i]?.decayed === true ? p.mul(1 - learningRate * weightDecay) : p;
      return { p: kept.sub(update.mul(learningRate)), m: mean, v: square };
    });
    for (const used of [scale, correction1, correction2]) used.dispose();
    return { loss, parameters: next.map((n) => n.p), m: next.map((n) => n.m), v: next.map((n) => n.v) };
  });
  const zeros = (): Tensor[] => given.map(({ data, shape }) => float(new Float32Array(data.length), shape));
  let state = { parameters: given.map(({ data, shape }) => float(data, shape)), m: zeros(), v: zeros() };
  let step = 0;
  return {
    adapter: `jax-js ${device}`,
    async train(batches) {
      defaultDevice(device);
      const losses: Tensor[] = [];
      for (const rows of batches) {
        step++;
        const flat = rows.flatMap((row) => [...row]);
        const next = rows.flatMap((row) => [...row.subarray(1), 0]);
        const shape = [work.rows, work.length];
        const { loss, ...rest } = program(
          state.parameters, state.m, state.v, int(flat, shape), int(next, shape), np.array(1 / (1 - beta1 ** step)), np.array(1 / (1 - beta2 ** step)),
        );
        state = rest;
        losses.push(loss);
      }
      await blockUntilReady(state.parameters.map((p) => p.ref));
      const values: number[] = [];
      for (const loss of losses) values.push(((await loss.data()) as Float32Array)[0] ?? NaN);
      return values;
    },
    dispose() {
      for (const array of [...state.parameters, ...state.m, ...state.v]) array.dispose();
      program.dispose();
    },
  };
}

/** Cached decoding: full-length caches written through a one-hot slot, the drawn token stays on the device. */
export async function jaxDecoder(device: Device, work: Work): Promise<Decoder> {
  await use(device);
  const { width, heads, vocab, length: T } = work;
  const D = width / heads;
  const step = (parameters: Tensor[], token: Tensor, position: Tensor, caches: Cache[]): { token: Tensor; caches: Cache[] } => {
    const B = token.shape[0] ?? 0;
    const { embedding, layers, norm } = split(parameters);
    const all = tables(work);
    const slots = np.arange(0, T, 1, { dtype: np.int32 });
    const here = np.equal(slots.ref, position.ref);
    const seen = np.lessEqual(slots, position).reshape([1, 1, 1, T]);
    const at = (table: Tensor): Tensor => np.matmul(np.where(here.ref.reshape([1, T]), 1, 0), table.reshape([T, D])).reshape([1, 1, 2, D / 2]);
    const [cos, sin] = [at(all.cos), at(all.sin)];
    const slot = here.reshape([1, T, 1, 1]);
    const next: Cache[] = [];
    let x = np.matmul(nn.oneHot(token, vocab), embedding.ref);
    for (const [i, layer] of layers.entries()) {
      const cache = caches[i] as Cache;
      const n = rmsNorm(x.ref, layer.inputNorm);
      const q = rotate(np.matmul(n.ref, layer.q).reshape([B, heads, D]), cos.ref, sin.ref);
      const k = rotate(np.matmul(n.ref, layer.k).reshape([B, heads, D]), cos.ref, sin.ref);
      const v = np.matmul(n, layer.v).reshape([B, 1, heads, D]);
      const keys = np.where(slot.ref, k.reshape([B, 1, heads, D]), cache.keys);
      const values = np.where(slot.ref, v, cache.values);
      next.push({ keys: keys.ref, values: values.ref });
      const attended = nn.dotProductAttention(q.reshape([B, 1, heads, D]), keys, values, { mask: seen.ref });
      x = x.add(np.matmul(attended.reshape([B, width]), layer.o));
      x = x.ref.add(feedForward(rmsNorm(x, layer.postNorm), layer));
    }
    for (const used of [cos, sin, slot, seen]) used.dispose();
    return { token: np.argmax(np.matmul(rmsNorm(x, norm), np.transpose(embedding)), -1), caches: next };
  };
  const program = jit(step);
  const parameters = peerParameters(work).map(({ data, shape }) => float(data, shape));
  return {
    adapter: `jax-js ${device}`,
    async decode(rows, length) {
      defaultDevice(device);
      let token = int(rows.map((row) => row[0] ?? 0), [rows.length]);
      let caches: Cache[] = Array.from({ length: work.layers }, () => ({ keys: np.zeros([rows.length, T, heads, D]), values: np.zeros([rows.length, T, heads, D]) }));
      const drawn: Tensor[] = [];
      for (let position = 0; position < length - 1; position++) {
        const result = program(parameters.map((p) => p.ref), token, int([position], [1]), caches);
        ({ token, caches } = result);
        drawn.push(token.ref);
      }
      token.dispose();
      for (const { keys, values } of caches) for (const array of [keys, values]) array.dispose();
      const columns = (await np.stack(drawn, 1).data()) as Int32Array;
      return rows.map((row, r) => [row[0] ?? 0, ...columns.slice(r * (length - 1), (r + 1) * (length - 1))]);
    },
    dispose() {
      for (const parameter of parameters) parameter.dispose();
      program.dispose();
    },
  };
}
