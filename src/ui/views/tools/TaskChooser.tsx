import { useState, type ReactNode } from 'react';
import type { Domain } from '../../../tasks/workflow.ts';
import { Button } from '../../components/Button.tsx';
import { NumberField } from '../../components/NumberField.tsx';
import { navigate } from '../../routes.ts';
import { t } from '../../text/text.ts';
import { toolsAddress, type ToolsPlace } from './place.ts';
import styles from './TaskChooser.module.css';

const MOST_SEED = 1e9;

/** The fixed example of a domain, or a task by its seed. */
export function TaskChooser({ place, domain }: { readonly place: ToolsPlace; readonly domain: Domain }): ReactNode {
  const [seed, setSeed] = useState(place.seed ?? 1);
  const draw = (): void => {
    // A second press goes on to the next one.
    const next = place.seed === seed ? (seed + 1) % MOST_SEED : seed;
    setSeed(next);
    navigate(toolsAddress({ part: domain, seed: next }));
  };
  return (
    <form className={styles.task} aria-label={t('tools.flow.task')} onSubmit={(event) => {
      event.preventDefault();
      draw();
    }}>
      <Button onClick={() => {
        navigate(toolsAddress({ part: domain }));
      }}>{t('tools.flow.example')}</Button>
      <div className={styles.seed}>
        <NumberField label={t('tools.flow.seed')} value={seed} least={0} most={MOST_SEED - 1} whole onChange={setSeed} />
      </div>
      <Button type="submit">{t('tools.flow.draw')}</Button>
      <span className={styles.muted}>
        {place.task !== undefined ? t('tools.flow.isLinked') : place.seed === undefined ? t('tools.flow.isExample') : t('tools.flow.isSeed', { seed: place.seed })}
      </span>
    </form>
  );
}
