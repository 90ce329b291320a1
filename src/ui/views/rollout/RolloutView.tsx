import { useCallback, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import type { RolloutRef } from '../../../lab/inspection.ts';
import { POLICY } from '../../../rollout/trajectory.ts';
import { Button } from '../../components/Button.tsx';
import { Segments } from '../../components/Segments.tsx';
import { useKeys } from '../../keys.ts';
import { navigate, stepAddress, type Selection } from '../../routes.ts';
import { format, t } from '../../text/text.ts';
import { usePlaying } from '../../transport/store.ts';
import { Transport } from '../../transport/Transport.tsx';
import type { TransportSource } from '../../transport/transport.ts';
import { Asked, useAsked } from '../step/Asked.tsx';
import { Key } from '../step/Key.tsx';
import { SignalBar } from '../step/SignalBar.tsx';
import { StepFrame, type StepContext } from '../step/StepFrame.tsx';
import { tokenText } from '../step/tokens.ts';
import { usePaint, useSignalKeys } from '../step/usePaint.ts';
import { Branches, branchWords } from './Branches.tsx';
import { addBranch, drawable, rolloutKey, useBranches, type Branch, type BranchInspection } from './branches.ts';
import { drawAt } from './draw.ts';
import { DrawPanel, drawSentence } from './DrawPanel.tsx';
import { Editor } from './Editor.tsx';
import { find } from './find.ts';
import { Lanes } from './Lanes.tsx';
import { Members } from './Members.tsx';
import styles from './RolloutView.module.css';
import { Tables } from './Tables.tsx';
import { rangeOf, Tokens } from './Tokens.tsx';
import { Copy, Find } from './Tools.tsx';
import { editableAt, firstDrawn, innerRange, turnAt, turnsOf, type Turn } from './turns.ts';
import { Weights } from './Weights.tsx';

/** One trajectory: how each token was drawn, what Python answered, and what would have come otherwise. */
export function RolloutView(): ReactNode {
  return <StepFrame on="rollout">{(context) => <Rollout {...context} />}</StepFrame>;
}

const ALTERNATIVES = 8;

function Rollout(context: StepContext): ReactNode {
  const member = context.group.members[context.selection.rollout - 1];
  return member === undefined ? <p>{t('rollout.none')}</p> : <Trajectory {...context} member={member} />;
}

/** The branch that is looked at; while it is being written, the nearest before it that is there. */
function shownOf(branches: readonly Branch[], id: number | undefined): Branch | undefined {
  const branch = branches.find((b) => b.id === id);
  return branch === undefined || branch.result !== undefined ? branch : shownOf(branches, branch.parent);
}

function Trajectory({ view, record, group, selection, member }: StepContext & { readonly member: TrainedTrajectory }): ReactNode {
  const { summary, openable } = view;
  const { step, question, rollout: number, more } = selection;
  const at = useMemo((): RolloutRef => ({ run: summary.id, step, group: question - 1, rollout: number - 1 }), [summary.id, step, question, number]);
  const of = rolloutKey(at);
  const branches = useBranches(of);
  const chosenId = more.branch === undefined ? undefined : Number(more.branch);
  const chosen = branches.find(({ id }) => id === chosenId);
  const shown = shownOf(branches, chosenId);
  const rollout = shown?.result === undefined ? member : drawable(shown.result.trajectory);
  const parent = branches.find(({ id }) => id === shown?.parent);
  const left = shown === undefined ? undefined : parent?.result === undefined ? member : drawable(parent.result.trajectory);
  const turns = useMemo(() => turnsOf(rollout), [rollout]);
  const token = selection.token !== undefined && selection.token < rollout.tokens.length ? selection.token : undefined;

  // The address is the state: what changes it reads the newest, and stays the same function.
  const latest = useRef<Selection>(selection);
  useLayoutEffect(() => {
    latest.current = selection;
  });
  const go = useCallback((to: Partial<Selection>): void => {
    navigate(stepAddress('rollout', { ...latest.current, ...to }), { replace: true });
  }, []);
  const goBranch = useCallback((branch: Branch | undefined, toToken?: number): void => {
    go({ token: toToken, more: { ...latest.current.more, branch: branch === undefined ? '' : String(branch.id) } });
  }, [go]);
  const goRollout = useCallback((to: number): void => {
    go({ rollout: to, token: undefined, more: { ...latest.current.more, branch: '' } });
  }, [go]);

  // A range and an open editor are of one trajectory; on another they are over.
  const [anchored, setAnchored] = useState<{ readonly of: TrainedTrajectory; readonly at: number } | undefined>();
  const anchor = anchored?.of === rollout && token !== undefined ? anchored.at : undefined;
  const pick = useCallback((to: number, other?: number): void => {
    setAnchored(other === undefined || other === to ? undefined : { of: rollout, at: other });
    go({ token: to });
  }, [go, rollout]);
  const [edited, setEdited] = useState<{ readonly of: TrainedTrajectory; readonly turn: Turn } | undefined>();
  const editing = edited?.of === rollout ? edited.turn : undefined;

  const query = more.find ?? '';
  const matches = useMemo(() => find(rollout, query), [rollout, query]);

  const [policy, setPolicy] = useState<'before' | 'latest'>('before');
  const run = (insert: BranchInspection['insert'], keep: number): void => {
    const from = shown?.result === undefined ? {} : { from: shown.result.trajectory };
    const id = addBranch(shown?.id, { kind: 'branch', at, policy, keep, insert, ...from }, summary.settings.seed);
    setEdited(undefined);
    go({ token: keep, more: { ...latest.current.more, branch: String(id) } });
  };
  const take = (id: number): void => {
    if (token !== undefined) run({ kind: 'token', id }, token);
  };
  const turn = token === undefined ? undefined : turns[turnAt(turns, token)];
  const editable = editableAt(turns, token ?? 0);
  // The next token that the policy draws: a question or an observation is not drawn again.
  const redraw = token === undefined ? firstDrawn(rollout.owner) : turn === undefined || turn.owner === POLICY ? token : turn.end;
  const draws = rollout.owner[token ?? -1] === POLICY;
  const edit = (): void => {
    if (editable !== undefined) setEdited({ of: rollout, turn: editable });
  };
  const again = (): void => {
    if (rollout.owner.includes(POLICY)) run({ kind: 'nothing' }, redraw);
  };
  const range = token === undefined ? undefined : rangeOf(token, anchor ?? token);
  const keyed = useRef({ edit, again, range });
  useLayoutEffect(() => {
    keyed.current = { edit, again, range };
  });
  const selected = useCallback(() => keyed.current.range, []);
  const branchId = shown?.id;
  const origin = useMemo(() => ({ run: summary.id, step, question, rollout: number, ...(branchId === undefined ? {} : { branch: branchId }) }), [summary.id, step, question, number, branchId]);
  const scored = useMemo(() => ({ view, step, group }), [view, step, group]);
  const policyChoice = useMemo(() => (
    <Segments label={t('rollout.by')} value={policy} onChange={setPolicy}
      items={[{ value: 'before', label: t('rollout.by.before') }, { value: 'latest', label: t('rollout.by.latest') }]} />
  ), [policy]);
  useKeys(useMemo(() => [
    { keys: ['e'], label: t('keys.edit'), run: () => {
      keyed.current.edit();
    } },
    { keys: ['r'], label: t('keys.again'), run: () => {
      keyed.current.again();
    } },
    { keys: ['ArrowLeft', 'ArrowRight'], label: t('keys.tokens') },
    { keys: ['PageUp', 'PageDown'], label: t('keys.parts') },
    { keys: ['Shift'], label: t('keys.range') },
  ], []));

  const looks = shown?.inspection.policy === 'latest' ? 'latest' : 'before';
  const version = looks === 'latest' ? `@${summary.step}` : '';
  const asking = useAsked(rollout.tokens.length < 2 ? undefined : `draws/${of}/${shown?.id ?? ''}/${looks}${version}`, () => ({
    kind: 'scores', at: { run: summary.id, step }, policy: looks, rows: [rollout.tokens], alternatives: ALTERNATIVES,
  }));
  const scores = asking.answer?.state === 'ready' ? asking.answer.result.rows[0] : undefined;

  const paint = usePaint(view, record.step, group, selection);
  useSignalKeys('rollout', selection);
  const playing = usePlaying();

  const stops = useMemo(() => [
    { unit: 'token', stops: Array.from(rollout.tokens, (_, i) => i) } as const,
    { unit: 'turn', stops: turns.map(({ start }) => start) } as const,
  ], [rollout, turns]);
  const index = openable.indexOf(step);
  const toStep = (i: number): (() => void) | undefined => {
    const to = openable[i];
    return to === undefined ? undefined : () => {
      go({ step: to, token: undefined, more: { ...more, branch: '' } });
    };
  };
  const toRollout = (to: number): (() => void) | undefined => (to < 1 || to > group.members.length ? undefined : () => {
    goRollout(to);
  });
  const source: TransportSource = {
    at: token ?? Math.max(0, firstDrawn(rollout.owner) - 1),
    count: rollout.tokens.length,
    units: stops,
    onMove: pick,
    beyond: {
      rollout: { previous: toRollout(number - 1), next: toRollout(number + 1) },
      update: { previous: toStep(index - 1), next: toStep(index + 1) },
    },
    words: (place) => t('rollout.place', { at: place, of: rollout.tokens.length, text: tokenText(rollout, place) }),
  };

  const title = shown === undefined ? t('detail.title', { number }) : branchWords(shown, member.task);
  const draw = scores && token !== undefined ? drawAt(scores, rollout.tokens, token) : undefined;
  return (
    <>
      <Members group={group} chosen={number} onChoose={goRollout} />
      {chosenId !== undefined && chosen === undefined && <p className={styles.note} role="status">{t('rollout.branch.gone')}</p>}
      <Lanes rollout={rollout} turns={turns} token={token} onPick={pick} />
      <Transport source={source} />
      <p className={styles.sentence} aria-live={playing ? 'off' : 'polite'} data-testid="sentence">
        {token === undefined ? t('rollout.draw.none') : drawSentence(rollout, token, draw)}
      </p>
      <div className={styles.bench}>
        <div className={styles.text}>
          {left !== undefined && shown !== undefined && (
            <>
              <Caption words={parent === undefined ? t('detail.title', { number }) : branchWords(parent, member.task)} rollout={left} />
              <Tokens id="left" rollout={left} paint={paint} token={undefined} label={t('rollout.leftTokens')} shared={shown.inspection.keep} onPick={(to) => {
                goBranch(parent, to);
              }} />
            </>
          )}
          <div className={styles.head}>
            <Caption words={title} rollout={rollout} />
            <Find query={query} matches={matches} token={token} onPick={pick} onQuery={(find) => {
              go({ more: { ...latest.current.more, find } });
            }} />
          </div>
          <Tokens id="rollout" rollout={rollout} paint={paint} token={token} anchor={anchor} matches={matches} onPick={pick} label={t('rollout.tokens')}
            shared={shown?.inspection.keep} own={shown?.result?.inserted} />
          <div className={styles.actions}>
            <Button disabled={editable === undefined} aria-keyshortcuts="e" onClick={edit}>{t(editable?.kind === 'output' ? 'rollout.editOutput' : 'rollout.editCall')}</Button>
            <Button disabled={!rollout.owner.includes(POLICY)} aria-keyshortcuts="r" onClick={again}>{t('rollout.again')}</Button>
            {policyChoice}
            {chosen !== undefined && chosen.result === undefined && <span className={styles.note} role="status">{t('rollout.branch.waiting', { id: chosen.id })}</span>}
          </div>
          {editing !== undefined && (
            <Editor key={editing.start} kind={editing.kind === 'call' ? 'call' : 'observation'} text={editing.text} onClose={() => {
              setEdited(undefined);
            }} onRun={(text) => {
              // Code goes behind the opening tag; an observation takes the place of the whole span.
              const [inner] = innerRange(rollout, editing.start, editing.end);
              if (editing.kind === 'call') run({ kind: 'call', code: text }, inner);
              else run({ kind: 'observation', text }, editing.start);
            }} />
          )}
          <Copy rollout={rollout} selected={selected} origin={origin} />
          <SignalBar on="rollout" selection={selection} paint={paint} scored={scored} />
        </div>
        <section className={styles.draw} aria-label={t('rollout.draw')}>
          <Asked asking={asking} what={t('rollout.draw.what')}>
            {({ provenance }) => (
              <>
                {token !== undefined && scores !== undefined && <DrawPanel rollout={rollout} scores={scores} token={token} onTake={draws ? take : undefined} />}
                <Weights provenance={provenance} policy={looks} step={step} />
              </>
            )}
          </Asked>
        </section>
      </div>
      <Branches rollout={member} number={number} branches={branches} chosen={chosen?.id} onChoose={goBranch} />
      <Key />
      <Tables rollout={rollout} turns={turns} scores={scores} />
    </>
  );
}

function Caption({ words, rollout }: { readonly words: string; readonly rollout: TrainedTrajectory }): ReactNode {
  return <h2 className={styles.caption}>{t('rollout.caption', { words, reward: format.fixed(rollout.reward.total, 2) })}</h2>;
}
