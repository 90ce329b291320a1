import { useEffect, useRef, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { Icon, type IconName } from '../components/Icon.tsx';
import { trainAddress, useDraft } from '../stores/draft.ts';
import { t, type PlainKey } from '../text/text.ts';
import { TopBar } from './TopBar.tsx';
import styles from './Shell.module.css';

const VIEWS: readonly { readonly path: string; readonly label: PlainKey; readonly icon: IconName }[] = [
  { path: '/', label: 'view.home', icon: 'home' },
  { path: '/train', label: 'view.train', icon: 'train' },
  { path: '/rollout', label: 'view.rollout', icon: 'rollout' },
  { path: '/group', label: 'view.group', icon: 'group' },
  { path: '/update', label: 'view.update', icon: 'update' },
  { path: '/compare', label: 'view.compare', icon: 'compare' },
  { path: '/tools', label: 'view.tools', icon: 'tools' },
];

/** What surrounds every view: the top bar, and the rail of views. */
export function Shell({ children }: { readonly children: ReactNode }): ReactNode {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const settings = useDraft();
  const view = VIEWS.find((v) => v.path === path);
  useEffect(() => {
    document.title = view === undefined ? t('app.name') : `${t(view.label)} – ${t('app.name')}`;
    main.current?.scrollTo(0, 0);
  }, [view]);
  return (
    <div className={styles.shell}>
      <button
        type="button"
        className={styles.skip}
        onClick={() => {
          main.current?.focus();
        }}
      >
        {t('app.skip')}
      </button>
      <TopBar />
      <nav className={styles.rail} aria-label={t('app.views')}>
        {VIEWS.map(({ path: to, label, icon }) => (
          <Link key={to} to={to === '/train' ? trainAddress(settings) : to} className={styles.view} aria-current={path === to ? 'page' : undefined}>
            <Icon name={icon} size={22} />
            {t(label)}
          </Link>
        ))}
      </nav>
      <main ref={main} className={styles.main} tabIndex={-1}>{children}</main>
    </div>
  );
}
