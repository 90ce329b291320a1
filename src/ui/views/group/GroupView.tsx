import { useMemo, useState, type ReactNode } from 'react';
import type { TransportSource } from '../../transport/transport.ts';
import { Transport } from '../../transport/Transport.tsx';
import { navigate, stepAddress } from '../../routes.ts';
import { t } from '../../text/text.ts';
import { Inspector } from '../step/Inspector.tsx';
import { SignalBar } from '../step/SignalBar.tsx';
import { StepFrame, type StepContext } from '../step/StepFrame.tsx';
import { usePaint, useSignalKeys } from '../step/usePaint.ts';
import { Figure } from './Figure.tsx';
import { RolloutDetail } from './RolloutDetail.tsx';

/** The rollouts of one question, token by token, and how they were compared. */
export function GroupView(): ReactNode {
  return <StepFrame on="group">{(context) => <Group {...context} />}</StepFrame>;
}

function Group(context: StepContext): ReactNode {
  const { view, record, group, selection } = context;
  const { grpo } = view.summary.settings;
  const [preview, setPreview] = useState<{ readonly rollout: number; readonly token: number } | undefined>();
  const paint = usePaint(view, record.step, group, selection);
  useSignalKeys('group', selection);
  const scored = useMemo(() => ({ view, step: record.step, group }), [view, record.step, group]);
  const { rollout } = selection;
  const chosen = group.members[rollout - 1];
  const pointed = preview ?? (selection.token === undefined ? undefined : { rollout, token: selection.token });
  const inspected = pointed && group.members[pointed.rollout - 1];
  return (
    <>
      <SignalBar on="group" selection={selection} paint={paint} scored={scored} />
      <Figure {...context} paint={paint} onPreview={setPreview}>
        <Inspector rollout={inspected} token={pointed?.token} grpo={grpo} number={pointed?.rollout} preview={preview !== undefined} />
        <Walk {...context} />
        {chosen !== undefined && <RolloutDetail rollout={chosen} number={rollout} grpo={grpo} />}
      </Figure>
    </>
  );
}

/** The shared transport on the chosen rollout. */
function Walk({ view, group, selection }: StepContext): ReactNode {
  const source = useMemo((): TransportSource => {
    const { rollout, token } = selection;
    const member = group.members[rollout - 1];
    const go = (to: Partial<typeof selection>) => (): void => {
      navigate(stepAddress('group', { ...selection, ...to }), { replace: true });
    };
    const count = member?.tokens.length ?? 0;
    const beside = (by: number): (() => void) | undefined =>
      group.members[rollout - 1 + by] === undefined ? undefined : go({ rollout: rollout + by, token: undefined });
    const steps = view.openable;
    const next = (by: 1 | -1): (() => void) | undefined => {
      const step = steps[steps.indexOf(selection.step) + by];
      return step === undefined ? undefined : go({ step, token: undefined });
    };
    return {
      at: Math.min(token ?? 0, Math.max(count - 1, 0)),
      count,
      units: [
        { unit: 'token', stops: Array.from({ length: count }, (_, i) => i) },
        { unit: 'turn', stops: member?.spans.map(({ start }) => start) ?? [] },
      ],
      onMove: (to) => {
        go({ token: to })();
      },
      beyond: { rollout: { previous: beside(-1), next: beside(1) }, update: { previous: next(-1), next: next(1) } },
      words: (token) => t('group.place', { number: rollout, token }),
    };
  }, [view, group, selection]);
  return <Transport source={source} />;
}
