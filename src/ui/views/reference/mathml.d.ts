/** Made while building, by `mathml.node.ts`: MathML by the names of `formulas.ts`. */
declare module 'virtual:mathml' {
  export const formulas: Readonly<Record<import('./formulas.ts').FormulaId, string>>;
  export const symbols: Readonly<Record<import('./formulas.ts').SymbolName, string>>;
}
