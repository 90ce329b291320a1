/** Where the numbers that ship with the page are from: the file, the command that made it, engine and seed. Measured by this lab. */

export const MEASURED = [
  { id: 'base', file: 'models/arithmetic-base', command: 'npm run warmstart -- --model arithmetic-base --steps 3000 --batch 64 --lr 0.003 --seed 1', seeds: '1', live: '/train' },
  { id: 'small', file: 'models/arithmetic-small', command: 'npm run warmstart -- --model arithmetic-small --steps 3000 --batch 64 --lr 0.003 --seed 1', seeds: '1', live: '/train?model=arithmetic-small' },
  { id: 'chatty', file: 'models/chatty-base', command: 'npm run warmstart -- --model chatty-base --steps 3000 --batch 64 --lr 0.003 --seed 1', seeds: '1', live: '/compare?part=masking' },
  { id: 'steps', file: 'models/steps-base', command: 'npm run warmstart -- --model steps-base --steps 1500 --batch 64 --lr 0.002 --seed 1', seeds: '1', live: '/compare' },
  { id: 'trained', file: 'models/arithmetic-trained', command: 'npm run train -- --suite arithmetic --model arithmetic-base --steps 40 --questions 16 --group 6 --seed 1', seeds: '1', live: '/compare?part=question' },
  { id: 'stepsTrained', file: 'models/steps-trained', command: 'npm run train -- --suite arithmetic-steps --model steps-base --steps 60 --questions 10 --group 6 --seed 1', seeds: '1', live: '/compare' },
  { id: 'workflowBase', file: 'models/workflow-base', command: 'npm run workflow -- warmstart --hidden 64 --layers 2 --steps 1300 --batch 32 --lr 0.003 --seed 1', seeds: '1', live: '/tools?part=travel' },
  { id: 'workflowTrained', file: 'models/workflow-trained', command: 'npm run workflow -- train --model workflow-base --steps 100 --questions 16 --group 8 --lr 0.0007 --call-cost 0.02', seeds: '1', live: '/tools?part=retail' },
  { id: 'recorded', file: 'recorded/run.json', command: 'npm run record -- --run runs/arithmetic-base-seed1 --full 1,5,10,20,40', seeds: '1', live: '/group?run=recorded' },
  { id: 'evaluation', file: 'recorded/evaluation.json', command: 'node scripts/evaluation.mjs', seeds: '1', live: '/compare' },
  { id: 'masking', file: 'recorded/masking.json', command: 'npm run masking', seeds: '1, 2, 3', live: '/compare?part=masking' },
] as const;

/** What the paper leaves open or this lab makes smaller: words `simplification.<id>`. */
export const SIMPLIFICATIONS = ['policy', 'tasks', 'characters', 'short', 'tier1', 'calls', 'noOutput', 'format', 'settings', 'advantage', 'length', 'workflows'] as const;

/** What differs from two public trainers: words `differs.<id>`. */
export const DIFFERENCES = ['aggregation', 'std', 'clip', 'kl', 'truncation', 'reward'] as const;

/** Faults that users of public trainers reported: words `elsewhere.<id>` and `elsewhere.<id>.here`. */
export const ELSEWHERE = [
  'longMask', 'inverted', 'reencoded', 'prefix', 'noToken', 'ratioOne', 'denominators', 'groupOfOne', 'lossZero', 'equalGroups', 'moreCalls',
  'lostParts', 'newestOnly', 'truncatedRatio', 'overflow', 'viewer',
] as const;

/** Claims of public articles that are not repeated here: words `slip.<id>`. */
export const SLIPS = ['airline', 'olympiad', 'apples', 'negative', 'perTask'] as const;
