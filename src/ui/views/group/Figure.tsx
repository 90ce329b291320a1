import { useMemo, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { isWorkflow } from '../../../lab/suite-settings.ts';
import { Hideable } from '../../hiding/Hideable.tsx';
import { navigate, stepAddress } from '../../routes.ts';
import { t } from '../../text/text.ts';
import { useAsked } from '../step/Asked.tsx';
import { Key } from '../step/Key.tsx';
import type { StepContext } from '../step/StepFrame.tsx';
import { tokenizerOf } from '../step/tokenizers.ts';
import type { SignalPaint } from '../step/TokenStrip.tsx';
import { Hand } from './Hand.tsx';
import { canSwitch, groupNow, scoringBySwitches, scoringOfRun, type Scoring } from './play.ts';
import { RULES, writeRule, type RuleKind } from './rule-draft.ts';
import { RuleOutcome } from './RuleOutcome.tsx';
import { RuleSection } from './RuleSection.tsx';
import { SwitchBar } from './Switches.tsx';
import { moreOf, switchesOf, type Switches } from './switches.ts';
import { EqualShareLine } from './Verdict.tsx';
import styles from './Figure.module.css';

interface FigureProps extends StepContext {
  readonly paint: SignalPaint | undefined;
  readonly onPreview: (token: { readonly rollout: number; readonly token: number } | undefined) => void;
  /** What stands between the rollouts and the rule. */
  readonly children: ReactNode;
}

interface RuleAsked {
  readonly key: string;
  readonly code: string;
}

interface RuleApplied extends RuleAsked {
  readonly rewards: readonly (number | null)[];
}

/** How a group is scored: as the run did, by switches, or by a rule of one's own; and how its rewards are compared. */
export function Figure({ view, record, group, selection, paint, onPreview, children }: FigureProps): ReactNode {
  const { grpo } = view.summary.settings;
  const [of, setOf] = useState(group);
  const [asked, setAsked] = useState<RuleAsked>();
  const [applied, setApplied] = useState<RuleApplied>();
  const at = { run: view.summary.id, step: record.step, group: selection.question - 1 };
  const asking = useAsked(asked?.key, () => ({ kind: 'rule', at, code: asked?.code ?? '' }) as const);
  const { answer } = asking;
  if (of !== group) {
    setOf(group);
    setAsked(undefined);
    setApplied(undefined);
  } else if (asked !== undefined && answer?.state === 'ready' && applied?.key !== asked.key && answer.result.rewards.length === group.members.length) {
    // The last rewards stay until there are new ones: a rule that fails changes nothing.
    setApplied({ ...asked, rewards: answer.result.rewards });
  }

  const { norm, noCall, callCost } = switchesOf(selection.more, grpo);
  const math = canSwitch(group);
  const kind: RuleKind = isWorkflow(group.task.suite) ? 'workflow' : 'math';
  const scoring = useMemo((): Scoring => {
    if (applied !== undefined) return { by: applied.code === RULES[kind].paper ? 'paper' : 'own', rewards: applied.rewards, parts: undefined };
    if (!math || (noCall === grpo.reward.noCall && callCost === grpo.reward.callCost)) return scoringOfRun(group);
    return scoringBySwitches(group, tokenizerOf(group.task), { noCall, callCost });
  }, [group, applied, kind, math, noCall, callCost, grpo]);

  const outcome = useMemo(() => {
    if (applied === undefined) return undefined;
    const now = groupNow(group, scoring, new Map(), norm);
    return <RuleOutcome group={group} now={now} scoring={scoring} reward={grpo.reward} />;
  }, [applied, group, scoring, norm, grpo]);

  const endRule = (): void => {
    setAsked(undefined);
    setApplied(undefined);
  };
  const turn = (next: Switches): void => {
    // How rewards are compared is one thing; what they are is another, and starts from the record.
    if (next.norm === norm) endRule();
    navigate(stepAddress('group', { ...selection, more: { ...selection.more, ...moreOf(next, grpo) } }), { replace: true });
  };
  const asInRun: Switches = { norm: grpo.advantage, ...grpo.reward };
  const score = (code: string): void => {
    const key = `rule/${at.run}/${at.step}/${at.group}/${code}`;
    if (asked?.key === key) asking.again();
    else setAsked({ key, code });
  };

  return (
    <Hand
      group={group} scoring={scoring} norm={norm} grpo={grpo} paint={paint} selection={selection} onPreview={onPreview}
      switches={<SwitchBar switches={{ norm, noCall, callCost }} grpo={grpo} ruled={applied !== undefined} math={math} onChange={turn} />}
      onReset={() => {
        endRule();
        turn(asInRun);
      }}
    >
      <div className={styles.notes}>
        <EqualShareLine record={record} />
        <Link to={stepAddress('update', selection)}>{t('group.toUpdate')}</Link>
      </div>
      <Key rewards={kind} />
      {children}
      <Hideable name="rule"><RuleSection kind={kind} asking={asking} asked={asked?.code} applied={applied?.code} switched={scoring.by === 'switches'} outcome={outcome} onScore={score} onBack={() => {
        writeRule(kind, RULES[kind].paper);
        endRule();
        turn({ ...asInRun, norm });
      }} /></Hideable>
    </Hand>
  );
}
