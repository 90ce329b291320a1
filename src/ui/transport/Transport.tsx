import { useEffect, useLayoutEffect, useMemo, useRef, type ReactNode } from 'react';
import { Button } from '../components/Button.tsx';
import { Choice } from '../components/Choice.tsx';
import { Icon } from '../components/Icon.tsx';
import { Segments } from '../components/Segments.tsx';
import { Slider } from '../components/Slider.tsx';
import { useKeys } from '../keys.ts';
import { t } from '../text/text.ts';
import { chooseSpeed, chooseUnit, play, useTransport } from './store.ts';
import { SPEEDS, stepBy, unitAfter, unitIn, UNITS, unitsOf, type TransportSource } from './transport.ts';
import styles from './Transport.module.css';

/** Back, play, on, by a unit and at a speed; and a slider over all places. One a view: it binds keys. */
export function Transport({ source }: { readonly source: TransportSource }): ReactNode {
  const { chosen, speed, playing } = useTransport();
  const root = useRef<HTMLElement>(null);
  const unit = unitIn(source, chosen);
  const back = unit && stepBy(source, unit, -1);
  const on = unit && stepBy(source, unit, 1);

  // What keys and the clock act on: the newest source, without binding them anew at each step.
  const latest = useRef({ source, unit, playing });
  useLayoutEffect(() => {
    latest.current = { source, unit, playing };
  });

  useKeys(useMemo(() => {
    const by = (direction: 1 | -1): void => {
      const now = latest.current;
      play(false);
      if (now.unit !== undefined) stepBy(now.source, now.unit, direction)?.();
    };
    return [
      { keys: ['j', ','], label: t('keys.back'), run: () => {
        by(-1);
      } },
      { keys: ['k', '.'], label: t('keys.on'), run: () => {
        by(1);
      } },
      { keys: [' '], label: t('keys.play'), run: () => {
        play(!latest.current.playing);
      } },
      { keys: ['u'], label: t('keys.unit'), run: () => {
        const now = latest.current;
        const next = now.unit && unitAfter(now.source, now.unit);
        if (next !== undefined) chooseUnit(next);
      } },
    ];
  }, []));

  useEffect(() => {
    if (!playing) return undefined;
    const tick = (): void => {
      const now = latest.current;
      const next = now.unit && stepBy(now.source, now.unit, 1);
      if (next === undefined) play(false);
      else next();
    };
    const timer = setInterval(tick, 1000 / Number(speed));
    // Whatever else the person does: they have seen what they wanted, and nothing moves under their hand.
    const onAction = (event: Event): void => {
      const within = event.target instanceof Node && root.current?.contains(event.target) === true;
      const key = event instanceof KeyboardEvent ? event.key : undefined;
      if (within || key === ' ' || key === 'Tab' || key === 'Shift') return;
      play(false);
    };
    document.addEventListener('pointerdown', onAction, true);
    document.addEventListener('keydown', onAction, true);
    return () => {
      clearInterval(timer);
      document.removeEventListener('pointerdown', onAction, true);
      document.removeEventListener('keydown', onAction, true);
    };
  }, [playing, speed]);
  // Leaving the view stops it.
  useEffect(() => () => {
    play(false);
  }, []);

  // These stay the same from step to step.
  const units = unitsOf(source).join(' ');
  const unitChoice = useMemo(() => (
    <Segments label={t('transport.unit')} value={unit} items={UNITS.filter((value) => units.split(' ').includes(value)).map((value) => ({ value, label: t(`unit.${value}`) }))} onChange={chooseUnit} />
  ), [unit, units]);
  const speedChoice = useMemo(() => (
    <Choice label={t('transport.speed')} value={speed} items={SPEEDS.map((value) => ({ value, label: t('transport.speedOf', { speed: value }) }))} onChange={chooseSpeed} />
  ), [speed]);

  const words = source.count === 0 ? '' : source.words(source.at);
  return (
    <section ref={root} className={styles.transport} aria-label={t('transport.title')}>
      <div className={styles.buttons}>
        <Button aria-label={t('transport.back')} aria-keyshortcuts="j ," disabled={back === undefined} onClick={() => {
          play(false);
          back?.();
        }}><Icon name="back" size={16} /></Button>
        <Button aria-label={t(playing ? 'transport.pause' : 'transport.play')} aria-keyshortcuts="Space" disabled={!playing && on === undefined} onClick={() => {
          play(!playing);
        }}><Icon name={playing ? 'pause' : 'play'} size={16} /></Button>
        <Button aria-label={t('transport.on')} aria-keyshortcuts="k ." disabled={on === undefined} onClick={() => {
          play(false);
          on?.();
        }}><Icon name="step" size={16} /></Button>
      </div>
      {speedChoice}
      {unitChoice}
      <Slider className={styles.slider} label={t('transport.place')} words={words} at={source.at} count={source.count} onMove={(to) => {
        play(false);
        source.onMove(to);
      }} />
      <span className={styles.words} aria-hidden="true">{words}</span>
    </section>
  );
}
