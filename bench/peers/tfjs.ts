/** The bench's policy in TensorFlow.js, with its autodiff; AdamW with clipping is written out, since it has none. */
import * as tf from '@tensorflow/tfjs';
import type { Trainer } from '../contender.ts';
import { ADAMW, peerParameters, rotaryTables, type Work } from '../work.ts';

export type TfBackend = 'webgpu' | 'cpu';

const rmsNorm = (x: tf.Tensor, gain: tf.Tensor): tf.Tensor => x.mul(x.square().mean(-1, true).add(1e-5).rsqrt()).mul(gain);

/** Mean of −log π over all tokens but the first of each row. tokens and targets flat, [rows · length]. */
function lossOf(work: Work, parameters: readonly tf.Tensor[], tokens: tf.Tensor1D, targets: tf.Tensor1D): tf.Scalar {
  const { rows, length, width, heads, vocab } = work;
  const head = width / heads;
  const turns = rotaryTables(work);
  const [cos, sin] = [turns.cos, turns.sin].map((table) => tf.tensor(table, [length, head / 2])) as [tf.Tensor, tf.Tensor];
  const hidden = tf.linalg.bandPart(tf.ones([length, length]), -1, 0).sub(1).mul(1e9);
  const headsOf = (x: tf.Tensor): tf.Tensor => x.reshape([rows, length, heads, head]).transpose([0, 2, 1, 3]);
  const rotate = (x: tf.Tensor): tf.Tensor => {
    const [u, v] = tf.split(x, 2, -1) as [tf.Tensor, tf.Tensor];
    return tf.concat([u.mul(cos).sub(v.mul(sin)), v.mul(cos).add(u.mul(sin))], -1);
  };
  const [embedding] = parameters as [tf.Tensor];
  let x: tf.Tensor = tf.oneHot(tokens, vocab).toFloat().matMul(embedding);
  for (let at = 1; at + 9 < parameters.length; at += 9) {
    const [inputNorm, wq, wk, wv, wo, postNorm, gate, up, down] = parameters.slice(at, at + 9) as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
    const n = rmsNorm(x, inputNorm);
    const [q, k, v] = [rotate(headsOf(n.matMul(wq))), rotate(headsOf(n.matMul(wk))), headsOf(n.matMul(wv))] as const;
    const law = tf.softmax(tf.matMul(q, k, false, true).mul(head ** -0.5).add(hidden));
    x = x.add(tf.matMul(law, v).transpose([0, 2, 1, 3]).reshape([rows * length, width]).matMul(wo));
    const m = rmsNorm(x, postNorm);
    const gated = m.matMul(gate);
    x = x.add(gated.mul(tf.sigmoid(gated)).mul(m.matMul(up)).matMul(down));
  }
  const logits = rmsNorm(x, parameters.at(-1) as tf.Tensor).matMul(embedding, false, true);
  const counted = tf.tensor(Float32Array.from({ length: rows * length }, (_, i) => ((i + 1) % length === 0 ? 0 : -1 / (rows * (length - 1)))), [rows * length, 1]);
  return tf.logSoftmax(logits).mul(tf.oneHot(targets, vocab).toFloat()).mul(counted).sum();
}

export async function tfjsTrainer(backend: TfBackend, work: Work): Promise<Trainer> {
  if (backend === 'webgpu') await import('@tensorflow/tfjs-backend-webgpu');
  if (!(await tf.setBackend(backend))) throw new Error(`TensorFlow.js has no ${backend} here`);
  await tf.ready();
  const { learningRate, beta1, beta2, epsilon, weightDecay, maxGradNorm } = ADAMW;
  const given = peerParameters(work);
  const variables = given.map(({ data, shape }) => tf.variable(tf.tensor(data, [...shape])));
  const [m, v] = [0, 0].map(() => variables.map(({ shape }) => tf.variable(tf.zeros(shape), false))) as [tf.Variable[], tf.Variable[]];
  let step = 0;
  const one = (tokens: tf.Tensor1D, targets: tf.Tensor1D): tf.Scalar => tf.tidy(() => {
    step++;
    const { value, grads } = tf.variableGrads(() => lossOf(work, variables, tokens, targets), variables);
    const gradients = variables.map(({ name }) => grads[name] as tf.Tensor);
    // Not addN: its kernel binds all of its inputs at once, more than adapters allow.
    const norm = gradients.map((g) => g.square().sum()).reduce((a, b) => a.add(b)).sqrt();
    const scale = tf.minimum(tf.div(maxGradNorm, norm), 1);
    for (const [i, variable] of variables.entries()) {
      const g = (gradients[i] as tf.Tensor).mul(scale);
      const [first, second] = [m[i] as tf.Variable, v[i] as tf.Variable];
      first.assign(first.mul(beta1).add(g.mul(1 - beta1)));
      second.assign(second.mul(beta2).add(g.square().mul(1 - beta2)));
      const update = first.div(1 - beta1 ** step).div(second.div(1 - beta2 ** step).sqrt().add(epsilon));
      const decay = given[i]?.decayed === true ? learningRate * weightDecay : 0;
      variable.assign(variable.mul(1 - decay).sub(update.mul(learningRate)));
    }
    return value;
  });
  return {
    adapter: `TensorFlow.js ${backend}`,
    async train(batches) {
      const losses: tf.Scalar[] = [];
      for (const rows of batches) {
        const tokens = tf.tensor1d(Int32Array.from(rows.flatMap((row) => [...row])), 'int32');
        const targets = tf.tensor1d(Int32Array.from(rows.flatMap((row) => [...row.subarray(1), 0])), 'int32');
        losses.push(one(tokens, targets));
        tf.dispose([tokens, targets]);
      }
      // The queue is in order: once a weight has been read, all steps are done.
      await (variables.at(-1) as tf.Variable).data();
      const values: number[] = [];
      for (const loss of losses) values.push((await loss.data())[0] ?? NaN);
      tf.dispose(losses);
      return values;
    },
    dispose() {
      tf.dispose([...variables, ...m, ...v]);
    },
  };
}
