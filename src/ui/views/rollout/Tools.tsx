import { memo, useMemo, useRef, useState, type ReactNode } from 'react';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import { Button } from '../../components/Button.tsx';
import { Choice } from '../../components/Choice.tsx';
import { Icon } from '../../components/Icon.tsx';
import { useKeys } from '../../keys.ts';
import { t } from '../../text/text.ts';
import type { Ranges } from '../step/strip.ts';
import { spanAt } from '../step/tokens.ts';
import { copied, COPIES, type CopyAs, type Origin } from './copy.ts';
import { nextMatch } from './find.ts';
import styles from './Tools.module.css';

interface FindProps {
  readonly query: string;
  readonly matches: Ranges;
  readonly token: number | undefined;
  readonly onQuery: (query: string) => void;
  readonly onPick: (token: number, anchor?: number) => void;
}

/** Search in the rollout: `/` from anywhere, Enter or n for the next. */
export function Find({ query, matches, token, onQuery, onPick }: FindProps): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const go = useMemo(() => (direction: 1 | -1): void => {
    const match = nextMatch(matches, token ?? -1, direction);
    if (match !== undefined) onPick(match[0], match[1] - 1);
  }, [matches, token, onPick]);
  useKeys(useMemo(() => [
    { keys: ['/'], label: t('keys.find'), run: () => {
      input.current?.focus();
      input.current?.select();
    } },
    { keys: ['n'], label: t('keys.nextMatch'), run: () => {
      go(1);
    } },
    { keys: ['N'], label: t('keys.previousMatch'), run: () => {
      go(-1);
    } },
  ], [go]));
  const at = token === undefined ? -1 : matches.findIndex(([start]) => start === token);
  return (
    <search className={styles.find}>
      <input
        ref={input}
        type="search"
        className={styles.query}
        placeholder={t('rollout.find')}
        aria-label={t('rollout.find')}
        aria-keyshortcuts="/"
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={(event) => {
          onQuery(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') go(event.shiftKey ? -1 : 1);
          if (event.key === 'Escape') {
            onQuery('');
            input.current?.blur();
          }
        }}
      />
      <span className={styles.count} role="status">{query === '' ? '' : at < 0 ? t('rollout.matches', { n: matches.length }) : t('rollout.matchOf', { at: at + 1, n: matches.length })}</span>
      <Button aria-label={t('keys.previousMatch')} disabled={matches.length === 0} onClick={() => {
        go(-1);
      }}><Icon name="previous" size={14} /></Button>
      <Button aria-label={t('keys.nextMatch')} disabled={matches.length === 0} onClick={() => {
        go(1);
      }}><Icon name="next" size={14} /></Button>
    </search>
  );
}

const SCOPES = ['selected', 'part', 'all'] as const;
type Scope = (typeof SCOPES)[number];

interface CopyProps {
  readonly rollout: TrainedTrajectory;
  /** The selected tokens at this moment, [start, end); undefined where there is none. */
  readonly selected: () => readonly [number, number] | undefined;
  readonly origin: Origin;
}

/** Copies the selected tokens, their part or all: as text, ids or JSON; or a link to this place. */
export const Copy = memo(function Copy({ rollout, selected, origin }: CopyProps): ReactNode {
  const [scope, setScope] = useState<Scope>('selected');
  const [said, setSaid] = useState<{ readonly words: string; readonly failed?: string } | undefined>();
  const chosen = (): readonly [number, number] => {
    const range = selected();
    if (scope === 'all' || range === undefined) return [0, rollout.tokens.length];
    const span = scope === 'part' ? spanAt(rollout, range[0]) : undefined;
    return span === undefined ? range : [span.start, span.end];
  };
  const put = (text: string, words: string): void => {
    // Missing where the page is not secure; refused where the browser does not trust the click.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    const written = clipboard === undefined ? Promise.reject(new Error('no clipboard')) : clipboard.writeText(text);
    written.then(() => {
      setSaid({ words });
    }, () => {
      setSaid({ words: t('rollout.copy.failed'), failed: text });
    });
  };
  return (
    <div className={styles.copy} role="group" aria-label={t('rollout.copy')}>
      <Choice label={t('rollout.copy.what')} value={scope} items={SCOPES.map((value) => ({ value, label: t(`rollout.copy.${value}`) }))} onChange={setScope} />
      {COPIES.map((as: CopyAs) => (
        <Button key={as} aria-label={t('rollout.copy.named', { as: t(`rollout.as.${as}`) })} onClick={() => {
          const range = chosen();
          put(copied(as, rollout, range, origin), t('rollout.copied', { as: t(`rollout.as.${as}`), n: range[1] - range[0] }));
        }}>{t(`rollout.as.${as}`)}</Button>
      ))}
      <Button onClick={() => {
        put(location.href, t('rollout.linkCopied'));
      }}>{t('rollout.link')}</Button>
      <span className={styles.said} role="status">{said?.words ?? ''}</span>
      {said?.failed !== undefined && <textarea className={styles.byHand} readOnly aria-label={t('rollout.copy.byHand')} value={said.failed} rows={3} />}
    </div>
  );
});
