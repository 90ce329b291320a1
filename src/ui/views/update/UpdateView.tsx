import { useMemo, useState, type ReactNode } from 'react';
import { useSearch } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { Choice } from '../../components/Choice.tsx';
import { Notice } from '../../components/Notice.tsx';
import { Segments } from '../../components/Segments.tsx';
import { CASES, casesOf, type CaseName } from '../../../grpo/explain.ts';
import type { StepRecord, TrainedTrajectory } from '../../../grpo/record.ts';
import { VARIANTS, type GrpoSettings, type VariantName } from '../../../grpo/settings.ts';
import { madeUpdates } from '../../../grpo/update.ts';
import type { InspectionResults, UpdateChange, UpdateView as View } from '../../../lab/inspection.ts';
import { PROMPT } from '../../../rollout/trajectory.ts';
import { useKeys } from '../../keys.ts';
import type { Control } from '../../hiding/controls.ts';
import { useHidden } from '../../hiding/useHidden.ts';
import { navigate, parseSelection, stepAddress, type Selection } from '../../routes.ts';
import { useTheme } from '../../stores/theme.ts';
import { format, t } from '../../text/text.ts';
import type { TransportSource } from '../../transport/transport.ts';
import { Transport } from '../../transport/Transport.tsx';
import { Asked, useAsked, type Asking } from '../step/Asked.tsx';
import { Legend } from '../step/SignalBar.tsx';
import { StepFrame, type StepContext } from '../step/StepFrame.tsx';
import type { SignalPaint } from '../step/TokenStrip.tsx';
import { tokenText } from '../step/tokens.ts';
import { AdamTensors, AdamWalk } from './Adam.tsx';
import { arrayOf, blank, lastUpdate, operationValue, push, scaleOf, storedView, strongestToken, walkAt } from './arrays.ts';
import { Card } from './Card.tsx';
import { Mask } from './Mask.tsx';
import { exampleSubject, short, subjectAt } from './numbers.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { Panes } from './Panes.tsx';
import { Provenance } from './Provenance.tsx';
import { Shown } from './Shown.tsx';
import { Tokens, type Bars } from './Tokens.tsx';
import { TokenTable } from './TokenTable.tsx';
import { Variants, VARIANT_NAMES, type Pair } from './Variants.tsx';
import styles from './UpdateView.module.css';

const TABS = ['walk', 'mask', 'variants'] as const;
type Tab = (typeof TABS)[number];

/** One update under the microscope, on the arrays of the step that made it. */
export function UpdateView(): ReactNode {
  return <StepFrame on="update">{(context) => <Update {...context} />}</StepFrame>;
}

/** What the address says beyond the shared selection. */
interface Place {
  readonly tab: Tab;
  readonly operation: Operation;
  readonly masked: boolean;
  readonly pair: Pair;
  readonly example: CaseName | undefined;
  /** Which update of the step, from 0; undefined: the last that its record tells of. */
  readonly update: number | undefined;
}

function placeOf({ more }: Selection): Place {
  const { op, mask, variant, case: of, update } = more;
  const [first = 'grpo', second = 'dr-grpo'] = (variant ?? '').split(',').flatMap((name): VariantName[] => VARIANT_NAMES.filter((v) => v === name));
  return {
    tab: mask !== undefined ? 'mask' : variant !== undefined ? 'variants' : 'walk',
    operation: OPERATIONS.find((o) => o === op) ?? OPERATIONS[0],
    masked: mask !== 'off',
    pair: [first, second],
    example: CASES.find((c) => c === of),
    update: update !== undefined && /^[1-9]\d{0,3}$/.test(update) ? Number(update) - 1 : undefined,
  };
}

/** Switches to compute the same update with, beside the run's own. */
function changesOf(tab: Tab, grpo: GrpoSettings): readonly UpdateChange[] {
  switch (tab) {
    case 'walk':
      return [];
    case 'mask':
      return [{ mask: !grpo.mask }];
    case 'variants':
      return VARIANT_NAMES.map((name) => {
        const { advantage, aggregation, epsilonLow, epsilonHigh } = VARIANTS[name].settings;
        return { advantage, aggregation, epsilonLow, epsilonHigh };
      });
  }
}

function Update(context: StepContext): ReactNode {
  const { view, record, group, selection } = context;
  const { grpo } = view.summary.settings;
  const place = useMemo(() => placeOf(selection), [selection]);
  // A page that follows a run shows each step as it comes; nothing is computed until the person stays with one.
  const following = parseSelection(useSearch()).step === undefined && view.kind === 'current' && view.summary.state === 'running';
  const made = madeUpdates(record) && !group.dropped;
  const rollout = group.members[selection.rollout - 1];
  // The record holds the last update of each rollout; others are made again.
  const recorded = rollout === undefined ? 0 : lastUpdate(record, rollout, grpo);
  const which = place.update ?? recorded;
  const { run, step, question } = selection;
  const key = made && !following ? `update/${run ?? ''}/${step}/${question}/${which}/${place.tab}` : undefined;
  const asking = useAsked(key, () => ({
    kind: 'update', at: { run: run ?? '', step, group: question - 1 }, changes: changesOf(place.tab, grpo), update: which,
  }));
  const result = asking.answer?.state === 'ready' ? asking.answer.result : undefined;
  const stored = useMemo(() => storedView(record, group, grpo), [record, group, grpo]);
  if (rollout === undefined) return <p>{t('group.noGroup')}</p>;
  const token = Math.min(selection.token ?? strongestToken(rollout), rollout.tokens.length - 1);
  const go = (change: Partial<Selection>): void => {
    navigate(stepAddress('update', { ...selection, ...change }), { replace: true });
  };
  return (
    <Ready
      {...context} place={place} go={go} rollout={rollout} token={token} made={made} asking={asking} result={result} which={which}
      own={result?.views[0] ?? (which === recorded ? stored : blank(stored))} isRecorded={which === recorded}
      onAsk={following ? () => {
        go({});
      } : undefined}
    />
  );
}

interface ReadyProps extends StepContext {
  readonly place: Place;
  readonly go: (change: Partial<Selection>) => void;
  readonly rollout: TrainedTrajectory;
  readonly token: number;
  /** Whether the step made updates at all. */
  readonly made: boolean;
  readonly asking: Asking<'update'>;
  readonly result: InspectionResults['update'] | undefined;
  readonly which: number;
  /** Whether the step's record tells of this update. */
  readonly isRecorded: boolean;
  /** The update as the run made it. */
  readonly own: View;
  /** Where the view follows a run: stays with this step. */
  readonly onAsk: (() => void) | undefined;
}

function Ready(props: ReadyProps): ReactNode {
  const { view, record, group, selection, place, go, rollout, token, made, asking, result, which, onAsk } = props;
  const { grpo } = view.summary.settings;
  const hidden = useHidden();
  const number = selection.rollout;
  const more = (change: Readonly<Record<string, string>>, without: readonly string[] = []): void => {
    const kept = Object.fromEntries(Object.entries(selection.more).filter(([name]) => !without.includes(name)));
    go({ more: { ...kept, ...change } });
  };
  const openTab = (tab: Tab): void => {
    if (tab !== 'walk' && hidden.has(tab)) return;
    const values = { walk: {}, mask: { mask: grpo.mask ? 'on' : 'off' }, variants: { variant: place.pair.join(',') } }[tab];
    more(values, ['mask', 'variant', ...(tab === 'walk' ? [] : ['case'])]);
  };
  const onPick = (to: number): void => {
    // Whoever picks a token wants its numbers, not those of an example.
    const { case: _, ...rest } = selection.more;
    go({ token: to, more: rest });
  };
  const onRollout = (to: number): void => {
    go({ rollout: to, token: undefined });
  };
  useUpdateKeys(place, grpo, hidden, openTab, more);
  const updates = result?.updates ?? grpo.innerEpochs * grpo.minibatches;
  const source = transportSource(props, onPick, onRollout, (operation) => {
    more({ op: operation });
  });
  return (
    <>
      <div className={styles.line}>
        <Segments label={t('update.tabs')} value={place.tab} items={TABS.filter((tab) => tab === 'walk' || !hidden.has(tab)).map((value) => ({ value, label: t(`update.tab.${value}`), hotkey: TAB_KEYS[value] }))} onChange={openTab} />
        <Segments
          label={t('update.rollouts')}
          value={String(number)}
          items={group.members.map(({ advantage }, i) => ({
            value: String(i + 1),
            label: t('update.rolloutIs', { number: i + 1, advantage: format.signed(advantage, 2) }),
            picture: <span className={styles.rollout}>{format.integer(i + 1)} <small>{advantage > 0 ? '▲' : advantage < 0 ? '▼' : '='}</small></span>,
          }))}
          onChange={(value) => {
            onRollout(Number(value));
          }}
        />
        {updates > 1 && (
          <Choice label={t('update.which')} value={String(which + 1)} items={Array.from({ length: updates }, (_, i) => ({ value: String(i + 1), label: t('update.number', { number: i + 1, of: updates }) }))} onChange={(value) => {
            more({ update: value });
          }} />
        )}
        {place.tab === 'walk' && (
          <Choice
            label={t('update.cases')}
            value={place.example ?? 'none'}
            items={[{ value: 'none' as const, label: t('update.case.none') }, ...CASES.map((value) => ({ value, label: t(`update.case.${value}`) }))]}
            onChange={(value) => {
              more(value === 'none' ? {} : { case: value }, ['case']);
            }}
          />
        )}
      </div>
      {!made && <Notice kind="note">{group.dropped ? t('update.dropped') : record.skipped === undefined ? t('update.noUpdate') : t(`skipped.${record.skipped}`)}</Notice>}
      {made && place.tab !== 'walk' && <Provenance asking={asking} made={false} onAsk={onAsk} />}
      {place.tab === 'walk'
        ? <Walk {...props} source={source} onPick={onPick} more={more} />
        : (
            <>
              <Transport source={source} />
              {made && asking.answer?.state === 'waiting' && <p className={styles.waiting}>{t('update.waitForIt')}</p>}
              {result !== undefined && place.tab === 'mask' && <MaskOf result={result} grpo={grpo} group={group} rollout={rollout} number={number} token={token} masked={place.masked} onPick={onPick} onRollout={onRollout} onMasked={(masked) => {
                more({ mask: masked ? 'on' : 'off' });
              }} />}
              {result !== undefined && place.tab === 'variants' && <VariantsOf result={result} grpo={grpo} group={group} rollout={rollout} number={number} token={token} pair={place.pair} onPick={onPick} onPair={(pair) => {
                more({ variant: pair.join(',') });
              }} />}
            </>
          )}
    </>
  );
}

const TAB_KEYS: Readonly<Record<Tab, string>> = { walk: 'w', mask: 'm', variants: 'v' };

/** Letters open the three parts; where the mask is on the screen, its letter turns it. */
function useUpdateKeys(place: Place, grpo: GrpoSettings, hidden: ReadonlySet<Control>, openTab: (tab: Tab) => void, more: (change: Readonly<Record<string, string>>) => void): void {
  useKeys(useMemo(() => [
    { keys: [TAB_KEYS.walk], label: t('keys.update.walk'), run: () => {
      openTab('walk');
    } },
    { keys: [TAB_KEYS.mask], label: t('keys.update.mask'), run: () => {
      if (place.tab === 'mask' && !hidden.has('mask')) more({ mask: place.masked ? 'off' : 'on' });
      else openTab('mask');
    } },
    { keys: [TAB_KEYS.variants], label: t('keys.update.variants'), run: () => {
      openTab('variants');
    } },
    { keys: ['ArrowLeft', 'ArrowRight'], label: t('keys.update.tokens') },
    { keys: ['PageUp', 'PageDown'], label: t('keys.update.parts') },
    // What they do depends on the place alone; the functions are made anew each time.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  ], [place, grpo, hidden]));
}

/** Operations of a token in the walk, tokens elsewhere; beyond them tokens, rollouts, and the updates before and after. */
function transportSource(
  { view, group, selection, place, go, rollout, token, result, which }: ReadyProps,
  onPick: (token: number) => void, onRollout: (rollout: number) => void, onOperation: (operation: Operation) => void,
): TransportSource {
  const { grpo } = view.summary.settings;
  const last = rollout.tokens.length - 1;
  const { openable } = view;
  const at = openable.indexOf(selection.step);
  const updates = result?.updates ?? grpo.innerEpochs * grpo.minibatches;
  const toStep = (step: number | undefined, update: number | undefined): (() => void) | undefined => step === undefined ? undefined : () => {
    const { update: _, ...rest } = selection.more;
    go({ step, token: undefined, more: update === undefined ? rest : { ...rest, update: String(update) } });
  };
  const beyond = {
    rollout: {
      previous: selection.rollout > 1 ? () => {
        onRollout(selection.rollout - 1);
      } : undefined,
      next: selection.rollout < group.members.length ? () => {
        onRollout(selection.rollout + 1);
      } : undefined,
    },
    update: {
      previous: which > 0 && updates > 1 ? toStep(selection.step, which) : toStep(openable[at - 1], undefined),
      next: which < updates - 1 ? toStep(selection.step, which + 2) : toStep(openable[at + 1], updates > 1 ? 1 : undefined),
    },
  };
  const tokenWords = (i: number): string => t('update.tokenIs', { token: i, text: tokenText(rollout, i) });
  if (place.tab !== 'walk') {
    return { at: token, count: rollout.tokens.length, units: [{ unit: 'token', stops: Array.from(rollout.tokens, (_, i) => i) }], onMove: onPick, beyond, words: tokenWords };
  }
  return {
    at: OPERATIONS.indexOf(place.operation),
    count: OPERATIONS.length,
    units: [{ unit: 'operation', stops: OPERATIONS.map((_, i) => i) }],
    onMove: (to) => {
      const operation = OPERATIONS[to];
      if (operation !== undefined) onOperation(operation);
    },
    beyond: {
      token: {
        previous: token > 0 ? () => {
          onPick(token - 1);
        } : undefined,
        next: token < last ? () => {
          onPick(token + 1);
        } : undefined,
      },
      ...beyond,
    },
    words: (i) => t(`update.op.${OPERATIONS[i] ?? OPERATIONS[0]}`),
  };
}

interface WalkProps extends ReadyProps {
  readonly source: TransportSource;
  readonly onPick: (token: number) => void;
  readonly more: (change: Readonly<Record<string, string>>, without?: readonly string[]) => void;
}

/** All operations on one token, forwards and backwards. */
function Walk({ view, record, group, selection, place, go, rollout, token, made, own, which, isRecorded, source, asking, result, onAsk, onPick, more }: WalkProps): ReactNode {
  const { grpo } = view.summary.settings;
  const { theme } = useTheme();
  const { operation, example } = place;
  const number = selection.rollout;
  const [preview, setPreview] = useState<number>();
  const [parameter, setParameter] = useState(0);
  const adamKey = operation === 'adam' && made && example === undefined ? `adam/${selection.run ?? ''}/${selection.step}/${which}` : undefined;
  const adam = useAsked(adamKey, () => ({ kind: 'adam', at: { run: selection.run ?? '', step: selection.step }, update: which }));
  const adamResult = adam.answer?.state === 'ready' ? adam.answer.result : undefined;
  const chosen = adamResult?.parameters[parameter] ?? adamResult?.parameters[0];

  const arrays = useMemo(() => own.members.map((member) => arrayOf(member, own.settings, operation)), [own, operation]);
  const scale = useMemo(() => scaleOf(arrays, operation, own.settings), [arrays, operation, own]);
  const values = arrays[number - 1];
  const paint = useMemo((): SignalPaint | undefined => scale && { signal: 'none', scale, theme, grpo: { ...grpo, ...own.settings } }, [scale, theme, grpo, own]);
  const bars = useMemo((): readonly Bars[] => (scale === undefined || values === undefined ? [{ label: '', values: new Float64Array(rollout.tokens.length).fill(NaN), scale: { kind: 'diverging', most: 1 } }] : [{ label: '', values, scale }]), [scale, values, rollout]);
  const member = own.members[number - 1];
  const ratios = useMemo(() => Float64Array.from(rollout.tokens, (_, i) => ((member?.weights[i] ?? 0) === 0 ? NaN : (member?.tokens?.ratio[i] ?? NaN))), [member, rollout]);
  const subject = example === undefined ? subjectAt(own, number - 1, token) : exampleSubject(example);
  if (member === undefined || subject === undefined) return null;
  const seen = preview ?? token;
  return (
    <>
      {made && result !== undefined && member.tokens === undefined && <Notice kind="note">{t('update.elsewhere')}</Notice>}
      <Tokens rollout={rollout} weights={member.weights} paint={paint} values={values} bars={bars} selected={token} onPick={onPick} onPreview={setPreview} />
      <div className={styles.below}>
        <span className={styles.legend}>
          <b>{t(`update.array.${operation}`)}</b>
          {paint === undefined ? <span>{t('signal.noValue')}</span> : <Legend paint={paint} scale={paint.scale} />}
        </span>
        <Shown rollout={rollout} number={number} member={member} token={seen} grpo={{ ...grpo, ...own.settings }} preview={preview !== undefined}
          extra={[[t('update.here'), short(values?.[seen] ?? NaN)]]} />
      </div>
      <Transport source={source} />
      {example !== undefined && <ExampleBanner name={example} record={record} grpo={grpo} go={go} selection={selection} onLeave={() => {
        more({}, ['case']);
      }} />}
      <div className={styles.heart}>
        <Card
          subject={subject} example={example !== undefined} operation={operation} ratios={example === undefined ? ratios : Float64Array.of(subject.walk.ratio)} token={example === undefined ? token : 0}
          equal={group.equal} first={which === 0} gradNorm={own.gradNorm}
          reward={example === undefined ? { own: rollout.reward.total, mean: group.mean, std: group.std } : undefined}
        >
          {adamKey !== undefined && (
            <Asked asking={adam} what={t('update.adam.what')}>
              {(it) => <AdamWalk result={it} chosen={Math.min(parameter, it.parameters.length - 1)} onChoose={setParameter} />}
            </Asked>
          )}
        </Card>
        <Panes
          subject={subject}
          of={example === undefined ? t('update.numbersOf', { token, text: tokenText(rollout, token) }) : t('update.numbersOfExample')}
          operation={operation}
          onOperation={(to) => {
            more({ op: to });
          }}
          adam={adamResult === undefined || chosen === undefined ? undefined : { parameter: chosen, result: adamResult }}
        />
      </div>
      {made && <Provenance asking={asking} made={isRecorded} onAsk={onAsk} />}
      {adamResult !== undefined && <AdamTensors result={adamResult} skipped={record.skipped} />}
      <TokenTable
        label={t('update.table')}
        rollout={rollout}
        columns={[
          { name: t('update.term.mask'), value: (i) => ((member.weights[i] ?? 0) === 0 ? 0 : 1) },
          ...OPERATIONS.filter((o) => o !== 'gradient' && o !== 'adam').map((o) => ({ name: t(`update.array.${o}`), value: (i: number) => operationValue(member, own.settings, o, i) })),
          { name: t('update.term.kl'), value: (i) => ((member.weights[i] ?? 0) === 0 ? NaN : walkAt(member, own.settings, i).kl) },
          { name: t('update.term.clipped'), value: (i) => ((member.weights[i] ?? 0) === 0 ? NaN : (member.tokens?.clipped[i] ?? NaN)) },
          { name: t('update.term.push'), value: (i) => -push(member, i) + 0 },
          { name: t('update.term.norm'), value: (i) => member.tokens?.gradient[i] ?? NaN },
        ]}
      />
    </>
  );
}

interface ExampleBannerProps {
  readonly name: CaseName;
  readonly record: StepRecord;
  readonly grpo: GrpoSettings;
  readonly selection: Selection;
  readonly go: (change: Partial<Selection>) => void;
  readonly onLeave: () => void;
}

/** An example says that it is one, what it shows, and where this step holds a token of its kind. */
function ExampleBanner({ name, record, grpo, selection, go, onLeave }: ExampleBannerProps): ReactNode {
  const found = useMemo(() => findCase(record, grpo, name, selection.question), [record, grpo, name, selection.question]);
  return (
    <div className={styles.example} role="note">
      <p><b>{t('update.example')}</b> {t(`update.case.${name}.what`)}</p>
      <div className={styles.actions}>
        {found === undefined
          ? <span>{t('update.noSuch')}</span>
          : (
              <Button onClick={() => {
                const { case: _, ...rest } = selection.more;
                go({ ...found, more: rest });
              }}>{t('update.toSuch', found)}</Button>
            )}
        <Button kind="quiet" onClick={onLeave}>{t('update.leaveExample')}</Button>
      </div>
    </div>
  );
}

/** The first token of this kind in the step, in the group that is open where it has one. */
function findCase(record: StepRecord, grpo: GrpoSettings, name: CaseName, question: number): { question: number; rollout: number; token: number } | undefined {
  const order = [question - 1, ...record.groups.keys()];
  for (const g of order) {
    for (const [r, rollout] of (record.groups[g]?.members ?? []).entries()) {
      if (rollout.update === undefined) continue;
      for (const [token, weight] of rollout.weights.entries()) {
        // The question is outside of the loss with the mask or without.
        if (rollout.owner[token] === PROMPT) continue;
        const cases = casesOf({ advantage: rollout.advantage, weight }, grpo, rollout.update.ratio[token] ?? NaN);
        if (cases.includes(name)) return { question: g + 1, rollout: r + 1, token };
      }
    }
  }
  return undefined;
}

interface OfResult {
  readonly result: InspectionResults['update'];
  readonly grpo: GrpoSettings;
  readonly group: StepContext['group'];
  readonly rollout: TrainedTrajectory;
  readonly number: number;
  readonly token: number;
  readonly onPick: (token: number) => void;
}

function MaskOf({ result, grpo, ...rest }: OfResult & { readonly masked: boolean; readonly onMasked: (masked: boolean) => void; readonly onRollout: (rollout: number) => void }): ReactNode {
  const [own, other] = result.views;
  if (own === undefined || other === undefined) return null;
  return <Mask {...rest} grpo={grpo} on={grpo.mask ? own : other} off={grpo.mask ? other : own} own={grpo.mask} difference={other.difference} />;
}

function VariantsOf({ result, ...rest }: OfResult & { readonly pair: Pair; readonly onPair: (pair: Pair) => void }): ReactNode {
  const views = useMemo(() => {
    const [, ...variants] = result.views;
    const all = VARIANT_NAMES.flatMap((name, i) => {
      const view = variants[i];
      return view === undefined ? [] : [[name, view] as const];
    });
    return all.length === VARIANT_NAMES.length ? (Object.fromEntries(all) as Record<VariantName, View>) : undefined;
  }, [result]);
  return views === undefined ? null : <Variants {...rest} views={views} />;
}
