/** The kernels that a policy needs, compiled together, with the matrix product behind one function. */
import type { Bindable, Constants, Dispatch, Gpu, Kernel, Tuning, Word } from './gpu.ts';

/**
 * The three products of training, in the layouts of `model.safetensors` (W is [out, in]):
 * `forward` Y = X Wᵀ, `input` dX = dY W, `weight` dW = dYᵀ X.
 * The forward product may normalise its input, add a residual, or end in SwiGLU.
 */
const PRODUCTS = {
  forward: { A_ALONG_P: true, B_ALONG_P: true },
  forwardResidual: { A_ALONG_P: true, B_ALONG_P: true, RESIDUAL: true },
  forwardNorm: { A_ALONG_P: true, B_ALONG_P: true, NORM: true },
  forwardNormSwiglu: { A_ALONG_P: true, B_ALONG_P: true, NORM: true, SWIGLU: true },
  input: { A_ALONG_P: true, B_ALONG_P: false },
  weight: { A_ALONG_P: false, B_ALONG_P: false, SPLIT: true },
} as const;

export type Product = keyof typeof PRODUCTS;

export type MatmulVariant = Tuning['matmul'];

/** Options that are off unless a product names them. */
const PLAIN = { NORM: false, RESIDUAL: false, SWIGLU: false, SPLIT: false };
/** Rows and columns of the result that one workgroup makes. */
const TILES = { tiled: [32, 64], registers: [64, 32] } as const;

/** One Y = X Wᵀ with square weights, to measure a variant. */
export async function forwardProduct(
  gpu: Gpu, variant: MatmulVariant, width: number,
  buffers: { readonly batch: Bindable; readonly a: Bindable; readonly b: Bindable; readonly y: Bindable },
): Promise<Dispatch> {
  const kernel = await gpu.kernel(`matmul_${variant}`, { ...PLAIN, ...PRODUCTS.forward });
  const dims = gpu.uniform('measured dims', [0, width, width, 0, 0xffffffff, 0, 1, { f32: 1 }, { f32: 0 }]);
  const [rows, columns] = TILES[variant];
  return gpu.bind(kernel, { dims, extra: buffers.b, ...buffers }, (items) => Math.ceil(items / rows) * Math.ceil(width / columns));
}

/** Kernels by the threads (or rows) of one workgroup. */
const ELEMENTWISE = {
  embed: 64, embed_grad: 64, gain_grad: 16, rope: 64, swiglu: 64, swiglu_grad: 64, gather: 64, cache_write: 64,
  attention: 32, attention_dq: 32, attention_dkv: 32, attention_cached: 16, grad_sum: 32, adamw: 64,
} as const;
const BY_ROW = ['rmsnorm', 'rmsnorm_grad', 'loss', 'alternatives', 'sample'] as const;

export type KernelName = keyof typeof ELEMENTWISE | (typeof BY_ROW)[number] | 'grad_norm';

/** Rows and columns of the result, and the length of each sum. */
export interface ProductShape {
  /** Rows of the result; only `weight` has rows that are not tokens. */
  readonly rows?: number;
  readonly columns: number;
  readonly sum?: number;
  /** Tokens first .. first + most of the batch. */
  readonly first?: number;
  readonly most?: number;
  /** For `weight`: partial sums, and the floats from one to the next. */
  readonly splits?: number;
  readonly stride?: number;
  /** For a normalising product: unpadded columns of the input, and epsilon. */
  readonly size?: number;
  readonly epsilon?: number;
}

export class Kernels {
  private constructor(
    readonly gpu: Gpu,
    readonly tuning: Tuning,
    private readonly kernels: ReadonlyMap<string, Kernel>,
    /** Items that one thread of the attention kernels takes. */
    readonly queries: number,
  ) {}

  /** @param head vec4s of a head. */
  static async compile(gpu: Gpu, tuning: Tuning, head: number): Promise<Kernels> {
    const row = { LANES: tuning.lanes, ROWS: rowsPerGroup(tuning) };
    const wanted: [key: string, name: string, constants: Constants][] = [
      ...Object.keys(ELEMENTWISE).map((name): [string, string, Constants] =>
        [name, name, name.startsWith('attention') ? { HEAD_VEC4: head, QUERIES: queriesPerThread(tuning, head) } : {}]),
      ...BY_ROW.map((name): [string, string, Constants] => [name, name, row]),
      // One row only: give it more lanes.
      ['grad_norm', 'grad_norm', { LANES: tuning.lanes === 1 ? 1 : 256 }],
      ...Object.entries(PRODUCTS).map(([key, options]): [string, string, Constants] =>
        [key, `matmul_${tuning.matmul}`, { ...PLAIN, ...options }]),
    ];
    const compiled = wanted.map(async ([key, name, constants]) => [key, await gpu.kernel(name, constants)] as const);
    return new Kernels(gpu, tuning, new Map(await Promise.all(compiled)), queriesPerThread(tuning, head));
  }

  /**
   * One dispatch of a kernel over `per` elements (or rows) an item (or block of items), or over `fixed` elements.
   * @param dims the kernel's own uniform, in the order of its `Dims`.
   */
  dispatch(
    name: KernelName, dims: readonly Word[], buffers: Readonly<Record<string, Bindable>>,
    elements: { readonly per: number; readonly block?: number; readonly first?: number; readonly most?: number } | { readonly fixed: number },
  ): Dispatch {
    const threads = name === 'grad_norm' ? 1 : name in ELEMENTWISE
      ? ELEMENTWISE[name as keyof typeof ELEMENTWISE]
      : rowsPerGroup(this.tuning);
    const groups = 'fixed' in elements
      ? (): number => Math.ceil(elements.fixed / threads)
      : (items: number): number => Math.ceil((Math.ceil(part(items, elements) / (elements.block ?? 1)) * elements.per) / threads);
    const own = dims.length > 0 ? { dims: this.gpu.uniform(`${name} dims`, dims) } : {};
    return this.gpu.bind(this.get(name), { ...own, ...buffers }, groups);
  }

  /** y = a · b. `extra` is the gain of a normalising product, or the residual. */
  product(
    kind: Product, shape: ProductShape,
    buffers: { readonly batch: Bindable; readonly a: Bindable; readonly b: Bindable; readonly extra?: Bindable; readonly y: Bindable },
  ): Dispatch {
    const { columns, rows = 0, sum = 0, first = 0, most = 0xffffffff, stride = 0, splits = 1, size = 1, epsilon = 0 } = shape;
    const dims = this.gpu.uniform(`${kind} dims`, [
      rows, columns, sum, first, most, stride / 4, splits, { f32: size }, { f32: epsilon },
    ]);
    const [tileRows, tileColumns] = TILES[this.tuning.matmul];
    const groups = (items: number): number =>
      part(items, shape) === 0 ? 0
        : Math.ceil(columns / tileColumns) * Math.ceil((kind === 'weight' ? rows : part(items, shape)) / tileRows) * splits;
    return this.gpu.bind(this.get(kind), { dims, extra: buffers.b, ...buffers }, groups);
  }

  private get(key: string): Kernel {
    const kernel = this.kernels.get(key);
    if (kernel === undefined) throw new RangeError(`no kernel ${key}`);
    return kernel;
  }
}

/** Rows of a row kernel in one workgroup. */
function rowsPerGroup(tuning: Tuning): number {
  return tuning.lanes === 1 ? 8 : 2;
}

/** On software adapters loads cost most: let several queries share them, as long as they fit the registers. */
function queriesPerThread(tuning: Tuning, head: number): number {
  return tuning.lanes === 1 ? Math.max(1, Math.min(4, Math.floor(16 / head))) : 1;
}

/** Items of the part first .. first + most. */
function part(items: number, { first = 0, most = Infinity }: { readonly first?: number; readonly most?: number }): number {
  return Math.min(Math.max(items - first, 0), most);
}
