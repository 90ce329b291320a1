import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Choice } from '../components/Choice.tsx';
import { Icon, type IconName } from '../components/Icon.tsx';
import { Segments } from '../components/Segments.tsx';
import { useHidden } from '../hiding/useHidden.ts';
import { useDraft } from '../stores/draft.ts';
import { isGoing, useLab } from '../stores/lab.ts';
import { chooseLanguage, useLanguage } from '../stores/language.ts';
import { chooseTheme, THEME_CHOICES, useTheme } from '../stores/theme.ts';
import { format, LANGUAGES, t } from '../text/text.ts';
import { KeyList } from './KeyList.tsx';
import { RunStatus } from './RunStatus.tsx';
import styles from './TopBar.module.css';

export function TopBar(): ReactNode {
  const seed = useLab((s) => s.run?.settings.seed);
  const going = useLab((s) => isGoing(s.run));
  const draft = useDraft();
  const { choice } = useTheme();
  const language = useLanguage();
  const hidden = useHidden();
  return (
    <header className={styles.bar}>
      <Link to="/" className={styles.brand}>{t('app.name')}</Link>
      {!hidden.has('engine') && <EngineBadge />}
      <div className={styles.run}>{going && <RunStatus compact />}</div>
      {!hidden.has('seed') && <span className={styles.seed}>{t('app.seed', { seed: format.integer(seed ?? draft.seed) })}</span>}
      {!hidden.has('language') && <div className={styles.language}>
        <Choice label={t('app.language')} value={language} items={LANGUAGES.map(({ code, name }) => ({ value: code, label: name, lang: code }))} onChange={(code) => {
          void chooseLanguage(code);
        }} />
      </div>}
      {!hidden.has('theme') && <Segments
        label={t('app.theme')}
        value={choice}
        items={THEME_CHOICES.map((value) => ({ value, label: t(`theme.${value}`), picture: <Icon name={value satisfies IconName} size={16} /> }))}
        onChange={chooseTheme}
      />}
      {!hidden.has('keys') && <KeyList key={language} />}
    </header>
  );
}

/** Which engine computes, and why; leads to the readiness card. */
function EngineBadge(): ReactNode {
  const engine = useLab((s) => s.engine);
  const connection = useLab((s) => s.connection);
  const fault = useLab((s) => s.faults.engine);
  const failed = connection === 'failed' || connection === 'other-version' || (engine === undefined && fault !== undefined);
  const kind = engine?.info.kind;
  return (
    <Link to="/" className={styles.badge} data-state={failed ? 'failed' : (kind ?? 'starting')}>
      <span className={styles.lamp} aria-hidden="true" />
      <span className={styles.engine}>{failed ? t('engine.none') : kind === undefined ? t('engine.starting') : t(`engine.${kind}`)}</span>
      {engine !== undefined && <span className={styles.why}>{t(`why.short.${engine.reason}`)}</span>}
    </Link>
  );
}
