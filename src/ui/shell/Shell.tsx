import { lazy, Suspense, useEffect, useRef, type ReactNode } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { Icon, type IconName } from '../components/Icon.tsx';
import { parseHide, RAIL } from '../hiding/controls.ts';
import { useHidden } from '../hiding/useHidden.ts';
import { parseSelection, STEP_VIEWS, stepAddress, type StepView } from '../routes.ts';
import { trainAddress, useDraft } from '../stores/draft.ts';
import { useLanguage } from '../stores/language.ts';
import { need, t, type PlainKey } from '../text/text.ts';
import { TopBar } from './TopBar.tsx';
import styles from './Shell.module.css';

const VIEWS: readonly { readonly path: string; readonly label: PlainKey; readonly icon: IconName }[] = [
  { path: '/', label: 'view.home', icon: 'home' },
  { path: '/lesson', label: 'view.lesson', icon: 'lesson' },
  { path: '/train', label: 'view.train', icon: 'train' },
  { path: '/rollout', label: 'view.rollout', icon: 'rollout' },
  { path: '/group', label: 'view.group', icon: 'group' },
  { path: '/update', label: 'view.update', icon: 'update' },
  { path: '/compare', label: 'view.compare', icon: 'compare' },
  { path: '/tools', label: 'view.tools', icon: 'tools' },
  { path: '/teach', label: 'view.teach', icon: 'teach' },
  { path: '/reference', label: 'view.reference', icon: 'reference' },
];

// Only links for a class need these, and their words.
const HiddenNote = lazy(async () => {
  const [{ HiddenNote: Note }] = await Promise.all([import('../hiding/HiddenNote.tsx'), need('teach', 'train')]);
  return { default: Note };
});
const LessonNotes = lazy(async () => {
  const [{ LessonNotes: Notes }] = await Promise.all([import('../views/teach/LessonNotes.tsx'), need('teach', 'lesson')]);
  return { default: Notes };
});

/** What surrounds every view: the top bar, and the rail of views. */
export function Shell({ children }: { readonly children: ReactNode }): ReactNode {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const language = useLanguage();
  const settings = useDraft();
  const view = VIEWS.find((v) => v.path === path);
  const search = useSearch();
  const hidden = useHidden();
  const hides = parseHide(search).length > 0;
  const presents = new URLSearchParams(search).get('present') === '1' && (path === '/lesson' || path === '/teach');
  const rail = presents ? [] : VIEWS.filter((v) => RAIL.every((name) => !hidden.has(`rail.${name}`) || v.path !== (name === 'home' ? '/' : `/${name}`)));
  useEffect(() => {
    main.current?.scrollTo(0, 0);
  }, [view]);
  useEffect(() => {
    document.title = view === undefined ? t('app.name') : `${t(view.label)} – ${t('app.name')}`;
  }, [view, language]);
  useEffect(() => {
    document.documentElement.toggleAttribute('data-present', presents);
  }, [presents]);
  return (
    <div className={styles.shell} data-present={presents || undefined}>
      <button
        type="button"
        className={styles.skip}
        onClick={() => {
          main.current?.focus();
        }}
      >
        {t('app.skip')}
      </button>
      {!presents && <TopBar />}
      {rail.length > 0 && <nav className={styles.rail} aria-label={t('app.views')}>
        {rail.map(({ path: to, label, icon }) => {
          const content = <><Icon name={icon} size={22} />{t(label)}</>;
          const step = stepViewOf(to);
          return step !== undefined && stepViewOf(path) !== undefined
            ? <StepLink key={to} view={step} current={path === to}>{content}</StepLink>
            : <Link key={to} to={to === '/train' ? trainAddress(settings) : to} className={styles.view} aria-current={path === to ? 'page' : undefined}>{content}</Link>;
        })}
      </nav>}
      <main ref={main} className={styles.main} data-wide={rail.length === 0 || undefined} tabIndex={-1}>
        {hides && <Suspense key={`hides/${language}`}><HiddenNote /></Suspense>}
        {children}
      </main>
      {presents && path === '/lesson' && <Suspense key={language}><LessonNotes /></Suspense>}
    </div>
  );
}

const stepViewOf = (path: string): StepView | undefined => STEP_VIEWS.find((name) => path === `/${name}`);

/** From one view of a step to another: to the same place. */
function StepLink({ view, current, children }: { readonly view: StepView; readonly current: boolean; readonly children: ReactNode }): ReactNode {
  const selection = parseSelection(useSearch());
  return <Link to={stepAddress(view, selection)} className={styles.view} aria-current={current ? 'page' : undefined}>{children}</Link>;
}
