import { useState, type ReactNode } from 'react';
import { Choice } from '../../components/Choice.tsx';
import { Notice } from '../../components/Notice.tsx';
import { walkAdam } from '../../../grpo/explain.ts';
import type { SkipReason } from '../../../grpo/record.ts';
import type { AdamParameter } from '../../../lab/inspection.ts';
import { format, t } from '../../text/text.ts';
import { short, type AdamResult } from './numbers.ts';
import styles from './Adam.module.css';

const nameOf = ({ tensor, index }: AdamParameter): string => `${tensor.replace(/^model\./, '').replace(/\.weight$/, '')} [${index}]`;

interface AdamWalkProps {
  readonly result: AdamResult;
  readonly chosen: number;
  readonly onChoose: (parameter: number) => void;
}

/** One real parameter through one step of AdamW: the moments and weights are the engine's. */
export function AdamWalk({ result, chosen, onChoose }: AdamWalkProps): ReactNode {
  const parameter = result.parameters[chosen];
  if (parameter === undefined) return null;
  const { optimizer, scale, applied } = result;
  // Decay acts on matrices; the gains of the norms are the only vectors.
  const walk = walkAdam(parameter, optimizer, result.t, !parameter.tensor.includes('norm'));
  const rows: readonly (readonly [string, string])[] = [
    [t('update.adam.gradient'), short(parameter.gradient)],
    [t('update.adam.clipped', { scale: short(scale) }), short(parameter.clipped)],
    ...(applied
      ? [
          [t('update.adam.m'), t('update.adam.change', { from: short(parameter.mBefore), to: short(parameter.m) })],
          [t('update.adam.v'), t('update.adam.change', { from: short(parameter.vBefore), to: short(parameter.v) })],
          [t('update.adam.hats'), `${short(walk.mHat)}, ${short(walk.vHat)}`],
          [t('update.adam.step', { rate: short(optimizer.learningRate) }), short(walk.step)],
          ...(walk.decay === 0 ? [] : [[t('update.adam.decay'), short(walk.decay)] as const]),
        ] as const
      : []),
    [t('update.adam.weight'), t('update.adam.change', { from: format.fixed(parameter.before, 6), to: format.fixed(parameter.after, 6) })],
  ];
  return (
    <div className={styles.walk}>
      <Choice
        label={t('update.adam.choose')}
        value={String(chosen)}
        items={result.parameters.map((p, i) => ({ value: String(i), label: nameOf(p) }))}
        onChange={(value) => {
          onChoose(Number(value));
        }}
      />
      <dl className={styles.rows}>
        {rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
      </dl>
    </div>
  );
}

/** The gradient and what became of it, tensor by tensor. */
export function AdamTensors({ result, skipped }: { readonly result: AdamResult; readonly skipped: SkipReason | undefined }): ReactNode {
  const most = Math.max(1e-30, ...result.tensors.map(({ gradient }) => gradient));
  const moved = Math.max(1e-30, ...result.tensors.map(({ change }) => change));
  const [all, setAll] = useState(false);
  const sorted = [...result.tensors].sort((a, b) => b.gradient - a.gradient);
  const shown = all ? result.tensors : sorted.slice(0, 8);
  return (
    <section className={styles.tensors} aria-label={t('update.adam.tensors')}>
      <h2>{t('update.adam.tensors')}</h2>
      <p className={styles.words}>{t('update.adam.facts', { t: result.t, norm: short(result.gradNorm), scale: short(result.scale), most: format.significant(result.optimizer.maxGradNorm, 3) })}</p>
      {!result.applied && <Notice kind="note">{t('update.adam.still')} {skipped !== undefined && t(`skipped.${skipped}`)}</Notice>}
      {/* A region that scrolls must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={styles.scroll} role="region" aria-label={t('update.adam.table')} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('update.adam.tensor')}</th>
              <th scope="col" className="figure">{t('update.adam.size')}</th>
              <th scope="col" className="figure">{t('update.adam.norm')}</th>
              <th scope="col">{t('update.adam.share')}</th>
              <th scope="col" className="figure">{t('update.adam.moved')}</th>
              <th scope="col">{t('update.adam.share')}</th>
              <th scope="col" className="figure">{t('update.adam.weights')}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ name, size, gradient, change, weights }) => (
              <tr key={name}>
                <th scope="row"><code>{name.replace(/^model\./, '').replace(/\.weight$/, '')}</code></th>
                <td className="figure">{format.integer(size)}</td>
                <td className="figure">{short(gradient)}</td>
                <td><Share of={gradient / most} /></td>
                <td className="figure">{short(change)}</td>
                <td><Share of={change / moved} /></td>
                <td className="figure">{format.fixed(weights, 3)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {result.tensors.length > 8 && (
        <button type="button" className={styles.more} aria-expanded={all} onClick={() => {
          setAll(!all);
        }}>{t(all ? 'update.adam.fewer' : 'update.adam.all', { n: result.tensors.length })}</button>
      )}
    </section>
  );
}

function Share({ of }: { readonly of: number }): ReactNode {
  return <span className={styles.bar} aria-hidden="true"><span style={{ width: `${100 * of}%` }} /></span>;
}
