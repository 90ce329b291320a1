import { useId, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { Icon, type IconName } from '../../components/Icon.tsx';
import { groupAddress, navigate } from '../../routes.ts';
import { RunStatus } from '../../shell/RunStatus.tsx';
import { draft, trainAddress } from '../../stores/draft.ts';
import { isGoing, lab, useLab } from '../../stores/lab.ts';
import { useRecorded } from '../../stores/recorded.ts';
import { format, t } from '../../text/text.ts';
import { lessonPlace } from './lesson-place.ts';
import styles from './Doors.module.css';

interface DoorProps {
  readonly icon: IconName;
  readonly name: string;
  readonly forWhom: string;
  /** Where the visitor was: the first thing that is read. */
  readonly place: ReactNode;
  readonly what: string;
  readonly time: string;
  readonly children: ReactNode;
}

function Door({ icon, name, forWhom, place, what, time, children }: DoorProps): ReactNode {
  const id = useId();
  return (
    <section className={styles.door} aria-labelledby={id}>
      <div className={styles.head}>
        <Icon name={icon} size={28} />
        <h2 id={id} className={styles.name}>{name}</h2>
        <span className={styles.whom}>{forWhom}</span>
      </div>
      <div className={styles.place}>{place}</div>
      <p>{what} <span className={styles.time}>{time}</span></p>
      <div className={styles.ways}>{children}</div>
    </section>
  );
}

/** Three ways in: to learn, to train, to teach. */
export function Doors(): ReactNode {
  const stage = lessonPlace();
  return (
    <div className={styles.doors}>
      <Door icon="lesson" name={t('home.lesson')} forWhom={t('home.lesson.for')} what={t('home.lesson.what')} time={t('home.lesson.time')}
        place={stage !== undefined && <p>{t('home.lesson.at', stage)}</p>}>
        <Link to="/lesson" className={styles.way}>{t(stage === undefined ? 'home.lesson.begin' : 'home.lesson.goOn')}</Link>
      </Door>
      <LabDoor />
      <Door icon="teach" name={t('home.teach')} forWhom={t('home.teach.for')} what={t('home.teach.what')} time={t('home.teach.time')} place={null}>
        <Link to="/teach" className={styles.way}>{t('home.teach.open')}</Link>
      </Door>
    </div>
  );
}

function LabDoor(): ReactNode {
  const run = useLab((s) => s.run);
  const runs = useLab((s) => s.runs);
  const connection = useLab((s) => s.connection);
  const recorded = useRecorded();
  const unusable = connection === 'failed' || connection === 'other-version';
  const going = isGoing(run);
  const last = run ?? runs.find(({ step }) => step > 0);
  const unfinished = run === undefined && last !== undefined && last.step < last.settings.steps ? last : undefined;
  const facts = last === undefined ? undefined : { step: last.step, of: last.settings.steps, reward: format.fixed(last.reward ?? NaN, 2) };
  return (
    <Door icon="train" name={t('home.lab')} forWhom={t('home.lab.for')} what={t('home.lab.what')} time={t('home.lab.time')}
      place={going ? <RunStatus /> : facts !== undefined && <p>{t(unfinished === undefined ? 'home.lab.finished' : 'home.lab.stopped', facts)}</p>}>
      {going
        ? <Button kind="primary" size="large" onClick={() => {
            navigate('/train');
          }}>{t('home.toRun')}</Button>
        : <Button kind="primary" size="large" disabled={unusable} onClick={() => {
            lab.train(draft.current());
            navigate(trainAddress());
          }}><Icon name="play" />{t('train.start')}</Button>}
      {unfinished !== undefined && (
        <Button size="large" disabled={unusable} onClick={() => {
          lab.openRun(unfinished.id);
          lab.resume();
          navigate(trainAddress(unfinished.settings));
        }}>{t('home.lab.resume')}</Button>
      )}
      {recorded.state === 'ready' && <Link to={groupAddress({ run: recorded.recorded.run.id })} className={styles.aside}>{t('home.recorded')}</Link>}
    </Door>
  );
}
