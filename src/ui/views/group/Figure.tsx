import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { Icon } from '../../components/Icon.tsx';
import { PAPER_RULE } from '../../../reward/rule.ts';
import { navigate, stepAddress } from '../../routes.ts';
import { format, t } from '../../text/text.ts';
import { useAsked } from '../step/Asked.tsx';
import { Key } from '../step/Key.tsx';
import type { StepContext } from '../step/StepFrame.tsx';
import { tokenizer, type SignalPaint } from '../step/TokenStrip.tsx';
import { axisOf, canSwitch, groupNow, scoringBySwitches, scoringOfRun, type Dragged, type Scoring } from './play.ts';
import { RewardTable } from './RewardTable.tsx';
import { Rollouts } from './Rollouts.tsx';
import { writeRule } from './rule-draft.ts';
import { RuleSection } from './RuleSection.tsx';
import { SwitchBar } from './Switches.tsx';
import { moreOf, switchesOf, type Switches } from './switches.ts';
import { EqualShareLine, VerdictLine } from './Verdict.tsx';
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

const NOTHING: Dragged = new Map();

/**
 * The comparison of a group, to be played with: rewards can be dragged, switches turned, the rule written anew. Only
 * this part is drawn again while a hand moves; `children` and the tokens stay.
 */
export function Figure({ view, record, group, selection, paint, onPreview, children }: FigureProps): ReactNode {
  const { grpo } = view.summary.settings;
  const [of, setOf] = useState(group);
  const [dragged, setDragged] = useState(NOTHING);
  const [asked, setAsked] = useState<RuleAsked>();
  const [applied, setApplied] = useState<RuleApplied>();
  const at = { run: view.summary.id, step: record.step, group: selection.question - 1 };
  const asking = useAsked(asked?.key, () => ({ kind: 'rule', at, code: asked?.code ?? '' }) as const);
  const { answer } = asking;
  if (of !== group) {
    setOf(group);
    setDragged(NOTHING);
    setAsked(undefined);
    setApplied(undefined);
  } else if (asked !== undefined && answer?.state === 'ready' && applied?.key !== asked.key && answer.result.rewards.length === group.members.length) {
    // The last rewards stay until there are new ones: a rule that fails changes nothing.
    setApplied({ ...asked, rewards: answer.result.rewards });
    setDragged(NOTHING);
  }

  const { norm, noCall, callCost } = switchesOf(selection.more, grpo);
  const math = canSwitch(group);
  const scoring = useMemo((): Scoring => {
    if (applied !== undefined) return { by: applied.code === PAPER_RULE ? 'paper' : 'own', rewards: applied.rewards, parts: undefined };
    if (!math || (noCall === grpo.reward.noCall && callCost === grpo.reward.callCost)) return scoringOfRun(group);
    return scoringBySwitches(group, tokenizer, { noCall, callCost });
  }, [group, applied, math, noCall, callCost, grpo]);
  const base = useMemo(() => groupNow(group, scoring, NOTHING, norm), [group, scoring, norm]);
  const axis = useMemo(() => axisOf(group, scoring, base, norm), [group, scoring, base, norm]);
  const now = useMemo(() => (dragged.size === 0 ? base : groupNow(group, scoring, dragged, norm)), [group, scoring, base, dragged, norm]);

  const onDrag = useCallback((member: number, reward: number | undefined) => {
    setDragged((was) => {
      if (was.get(member) === reward) return was;
      const next = new Map(was);
      if (reward === undefined) next.delete(member);
      else next.set(member, reward);
      return next;
    });
  }, []);
  const endRule = useCallback(() => {
    setAsked(undefined);
    setApplied(undefined);
    setDragged(NOTHING);
  }, []);
  const turn = (next: Switches): void => {
    // How rewards are compared is one thing; what they are is another, and starts from the record.
    if (next.norm === norm) endRule();
    navigate(stepAddress('group', { ...selection, more: { ...selection.more, ...moreOf(next, grpo) } }), { replace: true });
  };
  const ofRun: Switches = { norm: grpo.advantage, ...grpo.reward };
  const asSampled = dragged.size === 0 && scoring.by === 'run' && norm === grpo.advantage;
  const score = useCallback((code: string) => {
    const key = `rule/${at.run}/${at.step}/${at.group}/${code}`;
    setAsked({ key, code });
    if (asked?.key === key) asking.again();
  }, [at.run, at.step, at.group, asked, asking]);

  const statistics = now.counted === 0 ? [] : [
    t('group.statistics', { mean: format.fixed(now.mean, 2), std: format.fixed(now.counted > 1 ? now.std : 0, 2) }),
    ...(now.counted < group.members.length ? [t('group.leftOut', { counted: now.counted, of: group.members.length })] : []),
  ];

  return (
    <>
      <SwitchBar switches={{ norm, noCall, callCost }} grpo={grpo} ruled={applied !== undefined} math={math} onChange={turn}>
        <div className={styles.buttons}>
          <Button disabled={now.equal && now.counted === group.members.length} onClick={() => {
            const mean = Number.isNaN(now.mean) ? 0 : now.mean;
            setDragged(new Map(group.members.map((_, i) => [i, mean])));
          }}>{t('group.makeEqual')}</Button>
          <Button disabled={asSampled} onClick={() => {
            endRule();
            turn(ofRun);
          }}><Icon name="reset" size={16} />{t('group.asSampled')}</Button>
        </div>
      </SwitchBar>
      <Rollouts group={group} now={now} statistics={statistics.join(', ')} axis={axis} paint={paint} selection={selection} onPreview={onPreview} onDrag={onDrag} />
      <div className={styles.verdict}>
        <p className="hidden">{statistics.join(', ')}</p>
        <VerdictLine group={group} now={now} scoring={scoring} paper={grpo.reward} />
        <EqualShareLine record={record} />
        <Link to={stepAddress('update', selection)}>{t('group.toUpdate')}</Link>
      </div>
      <Key />
      {children}
      <RuleSection asking={asking} asked={asked?.code} applied={applied?.code} switched={scoring.by === 'switches'} onScore={score} onBack={() => {
        writeRule(PAPER_RULE);
        endRule();
        turn({ ...ofRun, norm });
      }} />
      <RewardTable group={group} now={now} />
    </>
  );
}
