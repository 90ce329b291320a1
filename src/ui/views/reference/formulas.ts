/**
 * The formulas that the lab computes by, in TeX. They become MathML while the page is built (`mathml.node.ts`), so neither
 * KaTeX nor its fonts reach the visitor. What a system without a mathematical face draws badly (accents, limits below a
 * sum) is left out. Words are in the catalogue: `formula.<id>`, `formula.<id>.what`, `symbol.<name>`.
 */

interface Formula {
  readonly tex: string;
  /** The symbols that are explained, by the name of their words. */
  readonly symbols: readonly SymbolName[];
  /** Where the lab shows it with live numbers. */
  readonly live: string;
}

export const SYMBOLS = {
  answer: String.raw`r_{\mathrm{ans}}`,
  pairs: String.raw`n_{\mathrm{tags}}`,
  strict: String.raw`s`,
  ran: String.raw`n_{\mathrm{ok}}`,
  calls: String.raw`n_{\mathrm{calls}}`,
  state: String.raw`m_{\mathrm{state}} / n_{\mathrm{state}}`,
  functions: String.raw`m_{\mathrm{fn}} / n_{\mathrm{fn}}`,
  reward: String.raw`r_i`,
  group: String.raw`G`,
  mean: String.raw`\mu`,
  std: String.raw`\sigma`,
  advantage: String.raw`A_i`,
  right: String.raw`p`,
  policy: String.raw`\pi_\theta`,
  old: String.raw`\pi_{\mathrm{old}}`,
  reference: String.raw`\pi_{\mathrm{ref}}`,
  token: String.raw`o_{i,t}`,
  ratio: String.raw`\rho_{i,t}`,
  clip: String.raw`\varepsilon`,
  beta: String.raw`\beta`,
  kl: String.raw`k_{i,t}`,
  mask: String.raw`m_{i,t}`,
  weight: String.raw`w_{i,t}`,
  rollouts: String.raw`N`,
  length: String.raw`T_{\max}`,
  gradient: String.raw`g`,
  limit: String.raw`c`,
  moments: String.raw`m,\ v`,
  rate: String.raw`\eta`,
  decay: String.raw`\lambda`,
} as const;
export type SymbolName = keyof typeof SYMBOLS;

export const FORMULAS = {
  math: {
    tex: String.raw`r = r_{\mathrm{ans}} + 0.125\, n_{\mathrm{tags}} + 0.5\, s + \frac{n_{\mathrm{ok}}}{n_{\mathrm{calls}}}`,
    symbols: ['answer', 'pairs', 'strict', 'ran', 'calls'],
    live: '/group',
  },
  workflow: {
    tex: String.raw`r = 0.5\,\frac{m_{\mathrm{state}}}{n_{\mathrm{state}}} + 0.5\,\frac{m_{\mathrm{fn}}}{n_{\mathrm{fn}}} + 0.025\, n_{\mathrm{tags}} + 0.1\, s`,
    symbols: ['state', 'functions', 'pairs', 'strict'],
    live: '/tools?part=travel',
  },
  advantage: {
    tex: String.raw`A_i = \frac{r_i - \mu}{\sigma + 10^{-4}}, \qquad \mu = \frac{1}{G}\sum\nolimits_j r_j, \qquad \sigma = \sqrt{\frac{1}{G-1}\sum\nolimits_j (r_j - \mu)^2}`,
    symbols: ['reward', 'group', 'mean', 'std', 'advantage'],
    live: '/group?signal=advantage',
  },
  variants: {
    tex: String.raw`A_i = r_i - \mu \qquad;\qquad A_i = \frac{r_i - \mu}{\sigma_G + 10^{-4}}, \quad \sigma_G = \sqrt{\frac{1}{G}\sum\nolimits_j (r_j - \mu)^2}`,
    symbols: ['reward', 'group', 'mean', 'advantage'],
    live: '/group?norm=mean',
  },
  equal: {
    tex: String.raw`\Pr[r_1 = \dots = r_G] = p^G + (1-p)^G`,
    symbols: ['right', 'group'],
    live: '/train',
  },
  ratio: {
    tex: String.raw`\rho_{i,t} = \frac{\pi_\theta(o_{i,t} \mid o_{i,<t})}{\pi_{\mathrm{old}}(o_{i,t} \mid o_{i,<t})}`,
    symbols: ['ratio', 'policy', 'old', 'token'],
    live: '/update?op=ratio',
  },
  objective: {
    tex: String.raw`L = -\sum\nolimits_{i,t} w_{i,t} \left[ \min\!\bigl(\rho_{i,t} A_i,\ \mathrm{clip}(\rho_{i,t},\, 1-\varepsilon,\, 1+\varepsilon)\, A_i\bigr) - \beta\, k_{i,t} \right]`,
    symbols: ['weight', 'ratio', 'advantage', 'clip', 'beta', 'kl'],
    live: '/update?op=clip',
  },
  kl: {
    tex: String.raw`k_{i,t} = e^{\delta} - \delta - 1, \qquad \delta = \log\pi_{\mathrm{ref}}(o_{i,t} \mid o_{i,<t}) - \log\pi_\theta(o_{i,t} \mid o_{i,<t})`,
    symbols: ['kl', 'reference', 'policy'],
    live: '/update?op=kl',
  },
  mask: {
    tex: String.raw`w_{i,t} = \frac{m_{i,t}}{N \sum\nolimits_s m_{i,s}} \qquad;\qquad \frac{m_{i,t}}{\sum\nolimits_{j,s} m_{j,s}} \qquad;\qquad \frac{m_{i,t}}{N\, T_{\max}}`,
    symbols: ['mask', 'weight', 'rollouts', 'length'],
    live: '/update?op=weight',
  },
  adamw: {
    tex: String.raw`\begin{aligned} g &\leftarrow g \cdot \min\!\left(1,\ \frac{c}{\lVert g \rVert}\right) \\ m &\leftarrow \beta_1 m + (1-\beta_1)\, g, \qquad v \leftarrow \beta_2 v + (1-\beta_2)\, g^2 \\ \theta &\leftarrow \theta - \eta \left( \frac{m / (1-\beta_1^{\,n})}{\sqrt{v / (1-\beta_2^{\,n})} + \epsilon} + \lambda\,\theta \right) \end{aligned}`,
    symbols: ['gradient', 'limit', 'moments', 'rate', 'decay'],
    live: '/update?op=adam',
  },
} as const satisfies Readonly<Record<string, Formula>>;
export type FormulaId = keyof typeof FORMULAS;
export const FORMULA_IDS = Object.keys(FORMULAS) as readonly FormulaId[];
