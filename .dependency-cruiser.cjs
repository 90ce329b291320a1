/**
 * The layers of `src/`, in the order in which data flows. A folder imports only from folders before it
 * in this list (and from itself). React and the DOM stay in `ui`.
 */
const LAYERS = [
  'tasks', 'tools', 'policy', 'rollout', 'reward', 'grpo', 'warmstart', 'evaluation', 'formats', 'lab', 'lesson', 'ui',
];

/** The command line is the same code without a browser: it may use everything but the page. */
const CLI_MAY_NOT = ['lesson', 'ui'];

module.exports = {
  forbidden: [
    ...LAYERS.flatMap((layer, i) => {
      const later = [...LAYERS.slice(i + 1), 'cli'];
      return [{
        name: `${layer}-imports-only-what-lies-before-it`,
        severity: 'error',
        from: { path: `^src/${layer}/` },
        to: { path: `^src/(${later.join('|')})/` },
      }];
    }),
    {
      name: 'cli-without-page',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: `^src/(${CLI_MAY_NOT.join('|')})/` },
    },
    {
      name: 'react-only-in-ui',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/ui/' },
      to: { path: 'node_modules/(react|react-dom|radix-ui|@radix-ui|zustand|wouter)/' },
    },
    {
      name: 'node-only-in-node-files',
      comment: 'Files that run in a page may not import from Node; `*.node.ts`, the tests and the command line may.',
      severity: 'error',
      from: { path: '^src/', pathNot: '(^src/cli/|\\.node\\.ts$|\\.test\\.tsx?$)' },
      to: { dependencyTypes: ['core'] },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'browser', 'default'] },
  },
};
