import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App, loadView } from './App.tsx';
import { startOffline } from './offline/store.ts';
import { splitHash } from './routes.ts';
import { followLinks } from './stores/draft.ts';
import { startLanguage } from './stores/language.ts';
import { openLab } from './stores/lab.ts';
import { loadRecorded } from './stores/recorded.ts';
import { startTheme } from './stores/theme.ts';
import { keepSpeed } from './views/home/speed.ts';
import './theme/base.css';

// The folder of the page, whatever server and path it lies under.
const base = new URL('.', location.href.split('#')[0]).href;

startTheme();
loadView(splitHash(location.hash).path);
followLinks();
openLab(base);
keepSpeed();
void startOffline(base);
void loadRecorded(async () => (await import('../lab/recorded.ts')).fetchRecordedRun(base));

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
const page = createRoot(root);
void startLanguage().then(() => {
  page.render(<StrictMode><App /></StrictMode>);
});
