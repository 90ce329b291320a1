import { useId, useState, type ReactNode } from 'react';
import { ChoiceField } from '../../components/ChoiceField.tsx';
import { Copy } from '../../components/Copy.tsx';
import { Notice } from '../../components/Notice.tsx';
import { NumberField } from '../../components/NumberField.tsx';
import { SwitchField } from '../../components/SwitchField.tsx';
import { STAGES, type StageId } from '../../../lesson/stages.ts';
import { CONTROLS, hiddenBy, isGroup, type Control } from '../../hiding/controls.ts';
import { hideLabel } from '../../hiding/labels.ts';
import { SIGNALS, type Signal } from '../../routes.ts';
import { useRecorded } from '../../stores/recorded.ts';
import { format, t } from '../../text/text.ts';
import { PARTS as COMPARE_PARTS } from '../compare/address.ts';
import { PARTS as TOOLS_PARTS } from '../tools/place.ts';
import { withValue } from '../train/fields.ts';
import { nameRun, PRESET_SETTINGS, PRESETS } from '../train/presets.ts';
import { LINK_VIEWS, linkAddress, MASKS, type ClassLink, type LinkView, type Target } from './links.ts';
import { numberOf } from './words.ts';
import styles from './LinkBuilder.module.css';

/** What a class needs hidden most often stands first; the rest is behind a fold. */
const OFTEN: readonly Control[] = ['mask', 'reward', 'algorithm', 'settings', 'rail', 'engine', 'signals', 'runs'];
const REST = CONTROLS.filter((name) => !OFTEN.includes(name));

function firstTarget(view: LinkView): Target {
  switch (view) {
    case 'lesson':
      return { view, stage: 'gap' };
    case 'train':
      return { view, settings: PRESET_SETTINGS.paper };
    case 'compare':
      return { view, part: 'conditions' };
    case 'tools':
      return { view, part: 'python' };
    case 'home':
    case 'reference':
      return { view };
    case 'rollout':
    case 'group':
    case 'update':
      return { view, step: 1, question: 1, rollout: 1, signal: 'none', mask: 'none' };
  }
}

/** Makes a link that opens one state of the page for everybody, without the controls that would lead away from it. */
export function LinkBuilder(): ReactNode {
  const [link, setLink] = useState<ClassLink>({ target: { view: 'train', settings: PRESET_SETTINGS.paper }, hide: [] });
  const address = linkAddress(link);
  const url = `${location.href.split('#')[0] ?? ''}#${address}`;
  const id = useId();
  const toggle = (name: Control, on: boolean): void => {
    setLink(({ target, hide }) => ({ target, hide: CONTROLS.filter((other) => (other === name ? on : hide.includes(other))) }));
  };
  const target = (to: Target): void => {
    setLink(({ hide }) => ({ target: to, hide }));
  };
  const box = (name: Control): ReactNode => <HideBox key={name} name={name} hide={link.hide} onToggle={toggle} />;
  return (
    <section className={styles.builder} aria-labelledby={id}>
      <h2 id={id}>{t('teach.link')}</h2>
      <p className={styles.what}>{t('teach.link.what')}</p>
      <div className={styles.columns}>
        <div>
          <h3>{t('teach.link.opens')}</h3>
          <ChoiceField label={t('teach.link.view')} hint={t('teach.link.view.what')} value={link.target.view}
            items={LINK_VIEWS.map((value) => ({ value, label: t(`view.${value}`) }))}
            onChange={(view) => {
              target(firstTarget(view));
            }} />
          <TargetFields target={link.target} onChange={target} />
        </div>
        <fieldset className={styles.hides}>
          <legend>{t('teach.link.hides')}</legend>
          <div className={styles.boxes}>{OFTEN.map(box)}</div>
          <details>
            <summary>{t('teach.link.more')}</summary>
            <div className={styles.boxes}>{REST.map(box)}</div>
          </details>
        </fieldset>
      </div>
      <div className={styles.result}>
        <label htmlFor={`${id}-url`}>{t('teach.link.result')}</label>
        <input id={`${id}-url`} className={styles.url} readOnly value={url} onFocus={(event) => {
          event.target.select();
        }} />
        <Copy text={url} />
        <a href={url} target="_blank" rel="noreferrer" className={styles.open}>{t('teach.link.open')}</a>
      </div>
      <Reach />
    </section>
  );
}

/** Whether other machines can open a link to this page at all. */
function Reach(): ReactNode {
  const { hostname } = location;
  if (hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]') return <Notice kind="note">{t('teach.link.local')}</Notice>;
  if (!isSecureContext) return <Notice kind="note">{t('teach.link.insecure')}</Notice>;
  return null;
}

function HideBox({ name, hide, onToggle }: { readonly name: Control; readonly hide: readonly Control[]; readonly onToggle: (name: Control, on: boolean) => void }): ReactNode {
  const by = hiddenBy(hide).has(name) && !hide.includes(name);
  return (
    <label className={styles.box}>
      <input type="checkbox" checked={by || hide.includes(name)} disabled={by} onChange={(event) => {
        onToggle(name, event.target.checked);
      }} />
      <span>{isGroup(name) ? <b>{hideLabel(name)}</b> : hideLabel(name)}</span>
    </label>
  );
}

function TargetFields({ target, onChange }: { readonly target: Target; readonly onChange: (to: Target) => void }): ReactNode {
  switch (target.view) {
    case 'lesson':
      return <ChoiceField<StageId> label={t('teach.link.stage')} hint={t('teach.link.stage.what')} value={target.stage}
        items={STAGES.map((value) => ({ value, label: `${format.integer(numberOf(value))} ${t(`lesson.${value}.title`)}` }))}
        onChange={(stage) => {
          onChange({ view: 'lesson', stage });
        }} />;
    case 'train': {
      const { settings } = target;
      const set = (path: 'seed' | 'steps' | 'grpo.mask', value: number | boolean): void => {
        onChange({ view: 'train', settings: withValue(settings, path, value) });
      };
      const { preset } = nameRun(settings);
      return (
        <>
          <ChoiceField label={t('setup.presets')} hint={t(`preset.${preset}.what`)} value={preset}
            items={PRESETS.map((value) => ({ value, label: t(`preset.${value}`) }))}
            onChange={(name) => {
              onChange({ view: 'train', settings: { ...PRESET_SETTINGS[name], seed: settings.seed } });
            }} />
          <NumberField label={t('set.seed')} hint={t('set.seed.what')} value={settings.seed} least={0} most={2 ** 31 - 1} whole onChange={(value) => {
            set('seed', value);
          }} />
          <NumberField label={t('set.steps')} hint={t('set.steps.what')} value={settings.steps} least={1} most={10_000} whole onChange={(value) => {
            set('steps', value);
          }} />
          <SwitchField label={t('set.mask')} hint={t('set.mask.what')} value={settings.grpo.mask} onChange={(value) => {
            set('grpo.mask', value);
          }} />
        </>
      );
    }
    case 'compare':
      return <ChoiceField label={t('teach.link.part')} hint={t('teach.link.part.what')} value={target.part}
        items={COMPARE_PARTS.map((value) => ({ value, label: t(`compare.part.${value}`) }))}
        onChange={(part) => {
          onChange({ view: 'compare', part });
        }} />;
    case 'tools':
      return <ChoiceField label={t('teach.link.part')} hint={t('teach.link.part.what')} value={target.part}
        items={TOOLS_PARTS.map((value) => ({ value, label: t(`tools.part.${value}`) }))}
        onChange={(part) => {
          onChange({ view: 'tools', part });
        }} />;
    case 'home':
    case 'reference':
      return null;
    case 'rollout':
    case 'group':
    case 'update':
      return <StepFields target={target} onChange={onChange} />;
  }
}

type StepTarget = Extract<Target, { readonly step: number }>;

/** A place of the recorded run: the one that every laptop has. */
function StepFields({ target, onChange }: { readonly target: StepTarget; readonly onChange: (to: Target) => void }): ReactNode {
  const recorded = useRecorded();
  const steps = recorded.state === 'ready' ? recorded.recorded.records.map(({ step }) => step) : [];
  return (
    <>
      <ChoiceField label={t('teach.link.step')} hint={t('teach.link.step.what')} value={String(target.step)}
        items={[...new Set([...steps, target.step])].sort((a, b) => a - b).map((step) => ({ value: String(step), label: format.integer(step) }))}
        onChange={(step) => {
          onChange({ ...target, step: Number(step) });
        }} />
      <NumberField label={t('teach.link.question')} value={target.question} least={1} most={64} whole onChange={(question) => {
        onChange({ ...target, question });
      }} />
      <NumberField label={t('teach.link.rollout')} value={target.rollout} least={1} most={32} whole onChange={(rollout) => {
        onChange({ ...target, rollout });
      }} />
      <ChoiceField<Signal> label={t('signal.choose')} hint={t(`signal.${target.signal}.what`)} value={target.signal}
        items={SIGNALS.map((value) => ({ value, label: t(`signal.${value}`) }))}
        onChange={(signal) => {
          onChange({ ...target, signal });
        }} />
      {target.view === 'update' && (
        <ChoiceField label={t('teach.link.mask')} hint={t('teach.link.mask.what')} value={target.mask}
          items={MASKS.map((value) => ({ value, label: t(`teach.link.mask.${value}`) }))}
          onChange={(mask) => {
            onChange({ ...target, mask });
          }} />
      )}
    </>
  );
}
