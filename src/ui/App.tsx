import { lazy, Suspense, useEffect, type ComponentType, type LazyExoticComponent, type ReactNode } from 'react';
import { Redirect, Route, Router, Switch } from 'wouter';
import { useHashRoute } from './routes.ts';
import { Shell } from './shell/Shell.tsx';
import { useLanguage } from './stores/language.ts';
import { need, type Part } from './text/text.ts';

interface View {
  readonly path: string;
  /** Its code and its words; also starts loading them ahead of time. */
  readonly load: () => Promise<{ readonly default: ComponentType }>;
  readonly Content: LazyExoticComponent<ComponentType>;
}

/** @param parts of the catalogue that the view speaks from, besides `core` */
function view(path: string, parts: readonly Part[], code: () => Promise<ComponentType>): View {
  const load = async (): Promise<{ default: ComponentType }> => {
    const [content] = await Promise.all([code(), need(...parts)]);
    return { default: content };
  };
  return { path, load, Content: lazy(load) };
}

const VIEWS: readonly View[] = [
  view('/', ['home', 'offline'], async () => (await import('./views/home/HomeView.tsx')).HomeView),
  view('/lesson', ['lesson', 'glossary'], async () => (await import('./views/lesson/LessonView.tsx')).LessonView),
  view('/train', ['train'], async () => (await import('./views/train/TrainView.tsx')).TrainView),
  view('/rollout', ['rollout', 'step', 'keys', 'train'], async () => (await import('./views/rollout/RolloutView.tsx')).RolloutView),
  view('/group', ['group', 'step', 'keys', 'train'], async () => (await import('./views/group/GroupView.tsx')).GroupView),
  view('/update', ['update', 'group', 'step', 'keys', 'train'], async () => (await import('./views/update/UpdateView.tsx')).UpdateView),
  view('/compare', ['compare', 'group', 'step', 'keys', 'train'], async () => (await import('./views/compare/CompareView.tsx')).CompareView),
  view('/reference', ['reference', 'glossary', 'keys', 'lesson', 'group', 'update', 'compare', 'tools', 'teach'], async () => (await import('./views/reference/ReferenceView.tsx')).ReferenceView),
  view('/teach', ['teach', 'lesson', 'train', 'step', 'keys', 'compare', 'tools'], async () => (await import('./views/teach/TeachView.tsx')).TeachView),
  view('/tools', ['tools', 'step', 'keys'], async () => (await import('./views/tools/ToolsView.tsx')).ToolsView),
];

/** Starts loading a view before anything is drawn. Where that fails, drawing it says so. */
export function loadView(path: string): void {
  VIEWS.find((v) => v.path === path)?.load().catch(() => undefined);
}

export function App(): ReactNode {
  const language = useLanguage();
  // The first view paints without the code of the others, which follows at once: no view waits when it is opened.
  useEffect(() => {
    void Promise.allSettled(VIEWS.map(({ load }) => load()));
  }, []);
  return (
    <Router hook={useHashRoute} searchHook={useHashRoute.searchHook} hrefs={useHashRoute.hrefs}>
      <Shell>
        <Suspense key={language}>
          <Switch>
            {VIEWS.map(({ path, Content }) => <Route key={path} path={path}><Content /></Route>)}
            <Route><Redirect to="/" /></Route>
          </Switch>
        </Suspense>
      </Shell>
    </Router>
  );
}
