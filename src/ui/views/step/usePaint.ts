/** The one signal on the tokens of a group: which, on what scale, and the keys that choose it. */
import { useMemo } from 'react';
import type { GroupRecord } from '../../../grpo/record.ts';
import { policyScores } from './scores.ts';
import { useKeys } from '../../keys.ts';
import { useHidden } from '../../hiding/useHidden.ts';
import { navigate, selectionNow, SIGNALS, stepAddress, type Selection, type StepView } from '../../routes.ts';
import { useInspection } from '../../stores/microscope.ts';
import type { RunView } from '../../stores/runs.ts';
import { useTheme } from '../../stores/theme.ts';
import { t } from '../../text/text.ts';
import type { SignalPaint } from './TokenStrip.tsx';
import { signalScale, type Deltas } from './tokens.ts';

/** Undefined where the signal is `none`, or where no token has a value yet. */
export function usePaint(view: RunView, step: number, group: GroupRecord, selection: Selection): SignalPaint | undefined {
  const { theme } = useTheme();
  const { grpo } = view.summary.settings;
  const { signal, other } = selection;
  const asked = signal === 'delta' ? policyScores(view, step, group, other) : undefined;
  const answer = useInspection(asked?.key, () => {
    if (asked === undefined) throw new Error('nothing was asked');
    return asked.inspection;
  });
  return useMemo((): SignalPaint | undefined => {
    let delta: Deltas | undefined;
    if (answer?.state === 'ready') {
      const { rows } = answer.result;
      delta = new Map(group.members.map((member, i) => [member, member.logProbs.map((own, k) => (rows[i]?.logProbs[k] ?? NaN) - own)]));
    }
    const scale = signalScale(group.members, signal, grpo, delta);
    return scale && { signal, scale, theme, grpo, delta };
  }, [answer, group, signal, grpo, theme]);
}

/** Keys 0 to 8 choose the signal. */
export function useSignalKeys(on: StepView, { run, step }: Selection): void {
  const hidden = useHidden().has('signals');
  useKeys(useMemo(() => hidden ? [] : [{
    keys: SIGNALS.map((_, i) => String(i)),
    label: t('keys.signal'),
    run: (key) => {
      const signal = SIGNALS[Number(key)];
      if (signal !== undefined) navigate(stepAddress(on, { ...selectionNow(), run, step, signal }), { replace: true });
    },
  }], [hidden, on, run, step]));
}
