import type { ReactNode } from 'react';
import type { Tokenizer } from '../../../policy/tokenizer.ts';
import { t } from '../../text/text.ts';
import { GLYPHS, visible } from '../step/tokens.ts';
import strip from '../step/TokenStrip.module.css';
import styles from './Observation.module.css';

interface ContextTokensProps {
  readonly ids: Uint32Array;
  readonly tokenizer: Tokenizer;
  readonly kind: 'prompt' | 'output';
}

/** What enters the context and is not trained on, token by token, as it stands in every strip: edge and glyph of who wrote it, hatched. */
export function ContextTokens({ ids, tokenizer, kind }: ContextTokensProps): ReactNode {
  const cells = Array.from(ids, (id, i) => (
    <span key={i} data-token={i} className={strip.token} data-context data-tag={tokenizer.isSpecial(id) || undefined}>{visible(tokenizer.token(id))}</span>
  ));
  // Single characters need no line between them.
  const words = ids.some((id) => !tokenizer.isSpecial(id) && tokenizer.token(id).length > 1);
  return (
    <div className={[strip.strip, words ? styles.words : ''].join(' ')} dir="ltr" role="img" aria-label={t(`tools.context.${kind}`, { count: ids.length, text: tokenizer.decode(ids) })}>
      <span className={strip.span} data-kind={kind}>
        <span className={strip.start}>
          <span className={strip.glyph} aria-hidden="true">{GLYPHS[kind]}</span>
          {cells[0]}
        </span>
        {cells.slice(1)}
      </span>
    </div>
  );
}

/** The twin of an observation. */
export function TokenTable({ ids, tokenizer }: { readonly ids: Uint32Array; readonly tokenizer: Tokenizer }): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col" className="figure">{t('tools.tokenTable.position')}</th>
          <th scope="col">{t('tools.tokenTable.text')}</th>
          <th scope="col" className="figure">{t('tools.tokenTable.id')}</th>
          <th scope="col">{t('tools.tokenTable.owner')}</th>
          <th scope="col">{t('tools.tokenTable.loss')}</th>
        </tr>
      </thead>
      <tbody>
        {Array.from(ids, (id, i) => (
          <tr key={i}>
            <th scope="row" className="figure">{i + 1}</th>
            <td><code dir="ltr">{visible(tokenizer.token(id))}</code></td>
            <td className="figure">{id}</td>
            <td>{t('tools.tokenTable.environment')}</td>
            <td>{t('tools.tokenTable.no')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
