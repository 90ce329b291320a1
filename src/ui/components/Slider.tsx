import { Slider as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import styles from './Slider.module.css';

interface SliderProps {
  readonly label: string;
  /** The place in words: what a screen reader says of it. */
  readonly words: string;
  /** A place from 0 to `count` − 1. */
  readonly at: number;
  readonly count: number;
  readonly onMove: (to: number) => void;
  /** Where it stands, and how wide it is. */
  readonly className?: string | undefined;
}

/** A place in a row of them, to be dragged. */
export function Slider({ label, words, at, count, onMove, className = '' }: SliderProps): ReactNode {
  return (
    <Radix.Root className={`${styles.slider} ${className}`} min={0} max={Math.max(count - 1, 1)} value={[Math.max(at, 0)]} disabled={count < 2} onValueChange={([to]) => {
      if (to !== undefined) onMove(to);
    }}>
      <Radix.Track className={styles.track}><Radix.Range className={styles.range} /></Radix.Track>
      <Radix.Thumb className={styles.thumb} aria-label={label} aria-valuetext={words} />
    </Radix.Root>
  );
}
