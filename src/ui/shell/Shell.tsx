import { useEffect, useRef, type ReactNode } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { Icon, type IconName } from '../components/Icon.tsx';
import { parseSelection, STEP_VIEWS, stepAddress, type StepView } from '../routes.ts';
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
  { path: '/reference', label: 'view.reference', icon: 'reference' },
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
        {VIEWS.map(({ path: to, label, icon }) => {
          const content = <><Icon name={icon} size={22} />{t(label)}</>;
          const step = stepViewOf(to);
          return step !== undefined && stepViewOf(path) !== undefined
            ? <StepLink key={to} view={step} current={path === to}>{content}</StepLink>
            : <Link key={to} to={to === '/train' ? trainAddress(settings) : to} className={styles.view} aria-current={path === to ? 'page' : undefined}>{content}</Link>;
        })}
      </nav>
      <main ref={main} className={styles.main} tabIndex={-1}>{children}</main>
    </div>
  );
}

const stepViewOf = (path: string): StepView | undefined => STEP_VIEWS.find((name) => path === `/${name}`);

/** From one view of a step to another: to the same place. */
function StepLink({ view, current, children }: { readonly view: StepView; readonly current: boolean; readonly children: ReactNode }): ReactNode {
  const selection = parseSelection(useSearch());
  return <Link to={stepAddress(view, selection)} className={styles.view} aria-current={current ? 'page' : undefined}>{children}</Link>;
}
