import { useId, useState, type ReactNode } from 'react';
import { Button } from '../../components/Button.tsx';
import { OPTIONS, type OptionId, type StageId } from '../../../lesson/stages.ts';
import { t } from '../../text/text.ts';
import styles from './Lesson.module.css';

interface PredictionProps {
  readonly stage: StageId;
  /** With one of the stage's own options. */
  readonly onSaid: (option: OptionId) => void;
}

/** One question with a few answers. The figure does not run before one is chosen. */
export function Prediction({ stage, onSaid }: PredictionProps): ReactNode {
  const id = useId();
  const [chosen, setChosen] = useState<OptionId>();
  const options: readonly OptionId[] = OPTIONS[stage];
  return (
    <form className={styles.card} aria-label={t('lesson.predict')} onSubmit={(event) => {
      event.preventDefault();
      if (chosen !== undefined) onSaid(chosen);
    }}>
      <h2 className={styles.step}>{t('lesson.predict')}</h2>
      <fieldset>
        <legend className={styles.question}>{t(`lesson.${stage}.predict`)}</legend>
        {options.map((option) => (
          <label key={option} className={styles.option}>
            <input type="radio" name={id} value={option} checked={chosen === option} onChange={() => {
              setChosen(option);
            }} />
            <span>{t(`lesson.option.${option}`)}</span>
          </label>
        ))}
      </fieldset>
      <Button kind="primary" type="submit" disabled={chosen === undefined}>{t('lesson.run')}</Button>
    </form>
  );
}
