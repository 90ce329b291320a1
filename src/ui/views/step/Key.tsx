import { memo, type ReactNode } from 'react';
import { t } from '../../text/text.ts';
import { GLYPHS } from './tokens.ts';
import styles from './Key.module.css';

const MATH = ['answer', 'format', 'execution'] as const;
const WORKFLOW = ['state', 'taskFormat', 'functions'] as const;
const KINDS = ['prompt', 'think', 'call', 'output', 'answer', 'stray'] as const;

/**
 * What the marks of a token stand for, and the shades of a reward.
 * @param rewards by which rule the rewards are that are drawn in parts.
 */
export const Key = memo(function Key({ rewards }: { readonly rewards?: 'math' | 'workflow' }): ReactNode {
  return (
    <div className={styles.key}>
      {rewards !== undefined && (
        <ul className={styles.list} aria-label={t('key.parts')}>
          {(rewards === 'workflow' ? WORKFLOW : MATH).map((part, i) => (
            <li key={part}><span className={styles.swatch} style={{ background: `var(--parts-${i + 1})` }} aria-hidden="true" />{t(`key.${part}`)}</li>
          ))}
        </ul>
      )}
      <ul className={styles.list} aria-label={t('key.marks')}>
        {KINDS.map((kind) => (
          <li key={kind}><span className={styles.glyph} data-mark={kind} aria-hidden="true">{GLYPHS[kind]}</span>{t(`kind.${kind}`)}</li>
        ))}
        <li><span className={styles.context} aria-hidden="true" />{t('key.context')}</li>
      </ul>
    </div>
  );
});
