/** What the home view says. */
import { duration, n, plural } from '../english.ts';

export const home = {
  'why.chosen': 'You chose this engine.',
  'why.gpu': 'Your GPU passed the self-test, so the hand-written WGSL kernels run on it.',
  'why.insecure-context':
    'This page did not come over https or from localhost, and browsers hide the GPU from such pages. To use it, serve the page over https, or start it on each machine.',
  'why.no-webgpu': 'This browser has no WebGPU. Current Chrome, Edge, Safari and Firefox have it on most systems.',
  'why.no-adapter': 'The browser has WebGPU but found no graphics adapter it may use. Check that hardware acceleration is switched on in its settings.',
  'why.adapter-error': 'The browser refused the graphics adapter, usually because its driver is on a block list. A driver update may help.',
  'why.software-adapter': 'The only graphics adapter is emulated on the processor; the CPU engine is faster there. You can still choose the WGSL engine.',
  'why.self-test-failed': 'The graphics adapter computed wrong numbers in the start-up test, or cannot hold this policy. The CPU engine takes over.',
  'why.device-lost': 'The graphics device was lost and none could be had again. The run went on from its last snapshot.',
  'choice.auto': 'Automatic',
  'choice.webgpu': 'WGSL on the GPU',
  'choice.cpu': 'CPU',

  'ready.title': 'This machine',
  'ready.engine': 'Engine',
  'ready.choice': 'Which engine to use',
  'ready.choice.what': 'A run in progress goes on with the new engine.',
  'ready.python': 'Python',
  'ready.speed': 'Speed',
  'python.none': 'Not loaded',
  'python.loading': 'Loading Python. Training can be started now; it waits for it.',
  'python.ready': ({ version }: { version: string }) => `Python ${version} is running in this page`,
  'python.sympy': ({ version }: { version: string }) => `with SymPy ${version}`,
  'python.noSympy': 'Without SymPy; training does not need it.',
  'python.restarts': 'A call that does not end costs a restart of Python: this page is not cross-origin isolated.',
  'speed.unknown': 'Not measured yet. The first step of training tells.',
  'speed.measured': ({ seconds }: { seconds: string }) => `${seconds} s for one training step`,
  'speed.estimate': ({ steps, seconds, rollouts }: { steps: number; seconds: number; rollouts: number }) =>
    `A run of ${plural(steps, 'step', 'steps')} with ${n(rollouts)} rollouts each takes about ${duration(seconds)}. Measured here.`,

  'home.title': 'Watch a tiny model learn to use Python',
  'home.lead':
    'A transformer small enough to train in this tab writes Python, real Python answers, and reinforcement learning makes it better while you watch. Every token and every number can be opened.',
  'home.toRun': 'Go to the run',
  'home.recorded': 'Look at a group of attempts first',
  'home.beforeAfter': 'The same policy, before and after',
  'home.before': ({ step }: { step: number }) => `Step ${n(step)}: before`,
  'home.after': ({ step }: { step: number }) => `Step ${n(step)}: after`,
  'home.reward': ({ reward }: { reward: string }) => `mean reward ${reward} of 4`,
  'home.openGroup': 'Compare it with its group',
  'loop.ask': 'Attempt',
  'loop.ask.what': 'The policy makes six attempts, called rollouts, at each question. It decides by itself when to call Python.',
  'loop.write': 'Run',
  'loop.write.what': 'Each call is executed by real Python. What it prints enters the context, and is not trained on.',
  'loop.score': 'Score',
  'loop.score.what': 'A whole attempt earns up to 4: 2 for the answer, 1 for the format, 1 for calls that ran.',
  'loop.update': 'Compare and update',
  'loop.update.what': 'Attempts better than their group become more likely, worse ones less. Then the next step.',
} as const;
