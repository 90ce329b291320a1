import { lazy, Suspense, useEffect, type ReactNode } from 'react';
import { Redirect, Route, Router, Switch } from 'wouter';
import { useHashRoute } from './routes.ts';
import { Shell } from './shell/Shell.tsx';
import { useLanguage } from './stores/language.ts';
import { HomeView } from './views/home/HomeView.tsx';

// The first view paints without the code of the others, which follows at once: no view waits when it is opened.
const views = {
  rollout: async () => ({ default: (await import('./views/rollout/RolloutView.tsx')).RolloutView }),
  update: async () => ({ default: (await import('./views/update/UpdateView.tsx')).UpdateView }),
  train: async () => ({ default: (await import('./views/train/TrainView.tsx')).TrainView }),
  tools: async () => ({ default: (await import('./views/tools/ToolsView.tsx')).ToolsView }),
  compare: async () => ({ default: (await import('./views/compare/CompareView.tsx')).CompareView }),
  group: async () => ({ default: (await import('./views/group/GroupView.tsx')).GroupView }),
};
const TrainView = lazy(views.train);
const GroupView = lazy(views.group);
const RolloutView = lazy(views.rollout);
const CompareView = lazy(views.compare);
const UpdateView = lazy(views.update);
const ToolsView = lazy(views.tools);

export function App(): ReactNode {
  const language = useLanguage();
  useEffect(() => {
    void Promise.allSettled(Object.values(views).map((load) => load()));
  }, []);
  return (
    <Router hook={useHashRoute} searchHook={useHashRoute.searchHook} hrefs={useHashRoute.hrefs}>
      <Shell key={language}>
        <Suspense>
          <Switch>
            <Route path="/"><HomeView /></Route>
            <Route path="/train"><TrainView /></Route>
            <Route path="/rollout"><RolloutView /></Route>
            <Route path="/group"><GroupView /></Route>
            <Route path="/update"><UpdateView /></Route>
            <Route path="/compare"><CompareView /></Route>
            <Route path="/tools"><ToolsView /></Route>
            <Route><Redirect to="/" /></Route>
          </Switch>
        </Suspense>
      </Shell>
    </Router>
  );
}
