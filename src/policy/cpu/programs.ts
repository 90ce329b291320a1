/** The jitted functions of one policy, one for each shape, and the tables that they read. */
import './runtime.ts';
import { jit, type JsTree } from '@jax-js/jax';
import type { PolicyConfig } from '../config.ts';
import { tables, type Tables, type Tensor } from './model.ts';

/** The arguments are consumed. */
export type Program<In extends JsTree<Tensor>, Out extends JsTree<Tensor>> = (weights: Tensor[], inputs: In) => Out;

export class Programs {
  private readonly programs = new Map<string, unknown>();
  private readonly tables = new Map<number, Tables>();
  /** Functions traced so far. Constant once every shape was seen, or something compiles anew at every call. */
  traces = 0;

  constructor(
    readonly config: PolicyConfig,
    readonly suppressTokens: readonly number[],
  ) {}

  /** The program of this key, traced at its first call. The key must name everything that `body` closes over. */
  get<In extends JsTree<Tensor>, Out extends JsTree<Tensor>>(key: string, body: Program<In, Out>): Program<In, Out> {
    const known = this.programs.get(key) as Program<In, Out> | undefined;
    if (known !== undefined) return known;
    const program = jit((weights: Tensor[], inputs: In): Out => {
      this.traces++;
      return body(weights, inputs);
    }) as unknown as Program<In, Out>;
    this.programs.set(key, program);
    return program;
  }

  /** Tables of a forward pass over `length` positions, to be consumed. */
  tablesOf(length: number): Tables {
    let known = this.tables.get(length);
    if (known === undefined) this.tables.set(length, (known = tables(this.config, length)));
    return { cos: known.cos.ref, sin: known.sin.ref, mask: known.mask.ref };
  }
}
