/**
 * Computes the numbers of the start-up test in float64 (gradients by central differences), and writes them to
 * `self-test-reference.ts` when run: `npx tsx src/policy/webgpu/self-test.node.ts`. A test keeps file and code together.
 */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { samplingUniform } from '../random.ts';
import { referenceDraw, referenceLaw, referenceLogits, referenceLogProbs } from '../reference.ts';
import { SELF_TEST, type SelfTestReference } from './self-test.ts';
import { referenceLoss } from './testing.node.ts';

/** Rounded to 7 digits, as written to the file. */
export function computeSelfTestReference(): SelfTestReference {
  const { checkpoint, rows, sample } = SELF_TEST;
  const vocab = checkpoint.config.vocab_size;
  const logProbs = rows.flatMap((tokens) => {
    const law = referenceLogProbs(checkpoint, tokens, 1);
    return Array.from(tokens.slice(1), (id, t) => rounded(law[t * vocab + id] ?? NaN));
  });
  const request = SELF_TEST.update(logProbs);
  const weights = Float64Array.from(checkpoint.weights);
  const loss = (): number => referenceLoss({ ...checkpoint, weights }, request.rows, request.objective, 1);
  const step = 1e-4;
  const gradient = Array.from(weights, (own, i) => {
    weights[i] = own + step;
    const above = loss();
    weights[i] = own - step;
    const below = loss();
    weights[i] = own;
    return rounded((above - below) / (2 * step));
  });
  const drawn = sample.rows.map(({ tokens, stream }) => {
    const all = [...tokens];
    while (all.length < sample.maxLength) {
      const logits = referenceLogits(checkpoint, all).slice(-vocab);
      const law = referenceLaw(logits, { temperature: 1, banned: checkpoint.suppressTokens });
      all.push(referenceDraw(law, samplingUniform(sample.seed, sample.step, stream, all.length)));
    }
    return all.slice(tokens.length);
  });
  return { loss: rounded(loss()), logProbs, drawn, gradient };
}

function rounded(x: number): number {
  return Number(x.toPrecision(7));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const reference = JSON.stringify(computeSelfTestReference()).replace(/(.{1,118}),/g, '$1,\n  ');
  writeFileSync(new URL('self-test-reference.ts', import.meta.url), `/** Written by self-test.node.ts. */

export const SELF_TEST_REFERENCE = ${reference};
`);
}
