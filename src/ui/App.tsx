import type { ReactNode } from 'react';
import { Redirect, Route, Router, Switch } from 'wouter';
import { useHashRoute } from './routes.ts';
import { Shell } from './shell/Shell.tsx';
import { GroupView } from './views/group/GroupView.tsx';
import { HomeView } from './views/home/HomeView.tsx';
import { TrainView } from './views/train/TrainView.tsx';

export function App(): ReactNode {
  return (
    <Router hook={useHashRoute} searchHook={useHashRoute.searchHook} hrefs={useHashRoute.hrefs}>
      <Shell>
        <Switch>
          <Route path="/"><HomeView /></Route>
          <Route path="/train"><TrainView /></Route>
          <Route path="/group"><GroupView /></Route>
          <Route><Redirect to="/" /></Route>
        </Switch>
      </Shell>
    </Router>
  );
}
