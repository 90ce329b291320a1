import { useState, type ReactNode } from 'react';
import { Choice } from '../../components/Choice.tsx';
import { Notice } from '../../components/Notice.tsx';
import type { EngineChoice, EngineReason, PythonStatus } from '../../../lab/protocol.ts';
import { Hideable } from '../../hiding/Hideable.tsx';
import { OfflineFacts } from '../../offline/OfflineFacts.tsx';
import { lab, useLab } from '../../stores/lab.ts';
import { format, t } from '../../text/text.ts';
import { measuredSpeed, storedSpeed } from './speed.ts';
import styles from './Readiness.module.css';

const CHOICES: readonly EngineChoice[] = ['auto', 'webgpu', 'cpu'];
const ESTIMATED_STEPS = 40;

/** Reasons of which the browser or the engine tells something of its own, in its own words: English. */
const TOLD: ReadonlySet<EngineReason> = new Set(['adapter-error', 'self-test-failed', 'device-lost']);

/** Whether this machine is ready, and how fast it is. */
export function Readiness(): ReactNode {
  const connection = useLab((s) => s.connection);
  const detail = useLab((s) => s.connectionDetail);
  const engine = useLab((s) => s.engine);
  const python = useLab((s) => s.python);
  const choice = useLab((s) => s.choice);
  const faults = useLab((s) => s.faults);
  return (
    <section className={styles.card} aria-label={t('ready.title')}>
      <h2>{t('ready.title')}</h2>
      {connection === 'failed' && <Notice kind="fault" detail={detail}>{t('fault.worker')}</Notice>}
      {connection === 'other-version' && <Notice kind="fault">{t('fault.version')}</Notice>}
      <dl className={styles.facts}>
        <div>
          <dt>{t('ready.engine')}</dt>
          <dd>
            <div className={styles.choice}>
              <b>{engine !== undefined ? t(`engine.${engine.info.kind}.long`) : t(connection === 'failed' || faults.engine !== undefined ? 'engine.none' : 'engine.starting')}</b>
              <Hideable name="engine"><Choice label={t('ready.choice')} value={choice} items={CHOICES.map((value) => ({ value, label: t(`choice.${value}`) }))} onChange={lab.chooseEngine} /></Hideable>
            </div>
            {engine !== undefined && (
              <>
                <p className={styles.adapter}>{engine.info.adapter}</p>
                <p className={styles.why}>{t(`why.${engine.reason}`)}</p>
                {engine.detail !== undefined && TOLD.has(engine.reason) && <p className={styles.detail}>{engine.detail}</p>}
              </>
            )}
            {faults.engine !== undefined && <Notice kind="fault" detail={faults.engine.message}>{t('fault.engine')}</Notice>}
          </dd>
        </div>
        <div>
          <dt>{t('ready.python')}</dt>
          <dd>
            {connection === 'failed' || connection === 'other-version' ? <p>{t('python.none')}</p> : <PythonFacts python={python} />}
            {faults.python !== undefined && python.state !== 'failed' && <Notice kind="fault" detail={faults.python.message}>{t('fault.python')}</Notice>}
          </dd>
        </div>
        <div>
          <dt>{t('ready.speed')}</dt>
          <dd><Pace /></dd>
        </div>
        <div>
          <dt>{t('offline.title')}</dt>
          <dd><OfflineFacts /></dd>
        </div>
      </dl>
    </section>
  );
}

function PythonFacts({ python }: { readonly python: PythonStatus }): ReactNode {
  switch (python.state) {
    case 'loading':
      return <p>{t('python.loading')}</p>;
    case 'failed':
      return <Notice kind="fault" detail={python.message}>{t('fault.python')}</Notice>;
    case 'ready': {
      const { version, sympy, interruptible } = python.info;
      return (
        <>
          <p><b>{t('python.ready', { version })}</b></p>
          <p className={styles.why}>{sympy === undefined ? t('python.noSympy') : t('python.sympy', { version: sympy })}</p>
          {!interruptible && <p className={styles.why}>{t('python.restarts')}</p>}
        </>
      );
    }
  }
}

function Pace(): ReactNode {
  const engine = useLab((s) => s.engine);
  const run = useLab((s) => s.run);
  const measured = measuredSpeed({ engine, run });
  const [before] = useState(storedSpeed);
  // What the other engine took says nothing about this one.
  const speed = measured ?? (before !== undefined && (engine === undefined || engine.info.kind === before.engine) ? before : undefined);
  if (speed === undefined) return <p className={styles.why}>{t('speed.unknown')}</p>;
  const { seconds, rollouts } = speed;
  return (
    <>
      <p><b>{t('speed.measured', { seconds: format.fixed(seconds, 2) })}</b></p>
      <p className={styles.why}>{t('speed.estimate', { steps: ESTIMATED_STEPS, seconds: seconds * ESTIMATED_STEPS, rollouts })} {t(measured === undefined ? 'speed.before' : 'speed.here')}</p>
    </>
  );
}
