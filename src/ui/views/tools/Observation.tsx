import type { ReactNode } from 'react';
import type { Tokenizer } from '../../../policy/tokenizer.ts';
import { t } from '../../text/text.ts';
import { GLYPHS, visible } from '../step/tokens.ts';
import strip from '../step/TokenStrip.module.css';

/** An observation token by token, as it stands in every strip: the environment's edge and glyph, hatched as context only. */
export function Observation({ ids, tokenizer }: { readonly ids: Uint32Array; readonly tokenizer: Tokenizer }): ReactNode {
  const cells = Array.from(ids, (id, i) => {
    const text = visible(tokenizer.token(id));
    return <span key={i} data-token={i} className={strip.token} data-context data-tag={tokenizer.isSpecial(id) || undefined}>{text}</span>;
  });
  return (
    <div className={strip.strip} dir="ltr" role="img" aria-label={t('tools.observation', { count: ids.length, text: tokenizer.decode(ids) })}>
      <span className={strip.span} data-kind="output">
        <span className={strip.start}>
          <span className={strip.glyph} aria-hidden="true">{GLYPHS.output}</span>
          {cells[0]}
        </span>
        {cells.slice(1)}
      </span>
    </div>
  );
}

/** Its twin. */
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
