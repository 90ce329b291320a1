/** A token in one sentence: for the inspector line, and for screen readers. */
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import type { GrpoSettings } from '../../../grpo/settings.ts';
import { ENVIRONMENT, PROMPT } from '../../../rollout/trajectory.ts';
import { format, t } from '../../text/text.ts';
import { clipState, inLoss, maskCounts, spanAt, tokenText } from './tokens.ts';

export function describeToken(rollout: TrainedTrajectory, token: number, grpo: GrpoSettings): string {
  const span = spanAt(rollout, token);
  const kind = span?.forged === true ? t('kind.forged') : t(`kind.${span?.kind ?? 'stray'}`);
  const head = t('token.head', { token, text: tokenText(rollout, token), kind });
  if (!inLoss(rollout, token)) {
    const owner = rollout.owner[token];
    return format.list([head, t(owner === PROMPT ? 'token.prompt' : owner === ENVIRONMENT ? 'token.environment' : 'token.outside')]);
  }
  const parts = [head, t('token.inLoss'), t('token.advantage', { advantage: format.signed(rollout.advantage, 2) })];
  const ratio = rollout.update?.ratio[token] ?? NaN;
  if (!Number.isNaN(ratio)) parts.push(t('token.ratio', { ratio: format.fixed(ratio, 2) }));
  const clip = clipState(rollout, token, grpo);
  if (clip !== undefined) parts.push(t(clip === 'outside' ? 'token.outside-band' : `token.${clip}`));
  return format.list(parts);
}

/** `think 41/41 · call 18/18 · output 0/9 · answer 6/6 · in loss 65 of 74` */
export function describeMask(rollout: TrainedTrajectory): string {
  const counts = maskCounts(rollout);
  return [
    ...counts.kinds.map(({ kind, trained, all }) => t('mask.kind', { kind: t(`kind.${kind}`), trained, all })),
    t('mask.all', { trained: counts.trained, all: counts.all }),
  ].join(' · ');
}
