import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const UI = join(import.meta.dirname, '..');
const filesIn = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.includes('test')).map((name) => join(folder, name));
/** Everything that can say a message: the page, and the lesson that it shows. */
const sources = [...filesIn(UI).filter((name) => !name.startsWith(import.meta.dirname)), ...(existsSync(join(UI, '../lesson')) ? filesIn(join(UI, '../lesson')) : [])];

type Words = Readonly<Record<string, unknown>>;
const files = import.meta.glob<Readonly<Record<string, Words>>>(['./en/*.ts', './zh-hans/*.ts', './zh-hant/*.ts'], { eager: true });
/** The parts of a language by name, as `text.ts` finds them. */
function parts(language: string): Map<string, Words> {
  return new Map(Object.entries(files).filter(([file]) => file.startsWith(`./${language}/`)).map(([file, module]) => {
    const name = file.split('/').at(-1)?.replace('.ts', '') ?? '';
    return [name, module[name] ?? {}];
  }));
}
const en = Object.assign({}, ...parts('en').values()) as Words;

const read = (name: string): string => readFileSync(name, 'utf8');

/** `t(\`why.${reason}\`)` says every message that fits the pattern. One that is all parameter would say everything, and says nothing. */
function patternsIn(code: string): RegExp[] {
  return [...code.matchAll(/`((?:[\w.]|\$\{[^{}`]*\})+)`/g)].map(([, pattern]) =>
    new RegExp(`^${(pattern ?? '').split(/\$\{[^}]*\}/).map((part) => part.replaceAll('.', '\\.')).join('[\\w-]+')}$`))
    .filter(({ source }) => /[a-z]\w*\\\./.test(source));
}

/** A file with all of ours that it imports; what it loads later too, unless it asks for the words of that itself. */
function reachable(file: string, found = new Set<string>()): string[] {
  if (found.has(file) || file.startsWith(import.meta.dirname)) return [...found];
  found.add(file);
  const code = read(file);
  const imports = code.includes('need(') ? /from '(\.[^']+\.tsx?)'/g : /(?:from |import\()'(\.[^']+\.tsx?)'/g;
  for (const [, target = ''] of code.matchAll(imports)) {
    const path = join(file, '..', target);
    if (path.startsWith(UI) || path.startsWith(join(UI, '../lesson'))) reachable(path, found);
  }
  return [...found];
}

const MARK = '\u2063';

/** Stands for any parameter: a number, a text, a list, true, and whatever has such things in it. */
const anything: unknown = new Proxy([3, 5], {
  get: (list, name): unknown => {
    if (name === Symbol.toPrimitive) return (hint: string) => (hint === 'number' ? 7 : MARK);
    if (name === 'toUpperCase') return () => MARK;
    return name in list ? Reflect.get(list, name) : anything;
  },
});

/** A message as it is said, with something in place of each parameter. */
function say(message: unknown): string {
  return typeof message === 'function' ? String((message as (p: unknown) => unknown)(new Proxy({}, { get: () => anything }))) : String(message);
}

/** The parameters that a message takes. Whether it then uses them is what the compiler sees to. */
function parametersOf(message: unknown): Set<string> {
  const taken = new Set<string>();
  if (typeof message === 'function') {
    (message as (p: unknown) => unknown)(new Proxy({}, {
      get: (_, name) => {
        taken.add(String(name));
        return anything;
      },
    }));
  }
  return taken;
}

/** Every Han character of the national standard, which has one script only: GB 2312 simplified, Big5 traditional. */
function charactersOf(language: 'zh-hans' | 'zh-hant'): Set<string> {
  const [name, first, last] = language === 'zh-hans' ? ['gb2312', 0xb0, 0xf7] as const : ['big5', 0xa4, 0xf9] as const;
  const decoder = new TextDecoder(name);
  const found = new Set<string>();
  for (let high: number = first; high <= last; high++) {
    for (let low = 0x40; low <= 0xfe; low++) if (name === 'big5' || low >= 0xa1) for (const character of decoder.decode(Uint8Array.of(high, low))) found.add(character);
  }
  // Standard since the table of 2013, and not yet in GB 2312 of 1980.
  if (language === 'zh-hans') found.add('啰');
  return found;
}

/** English word, then what says it in simplified and in traditional characters. The first is the glossary's, the others are its inflections. */
const TERMS: readonly (readonly [RegExp, readonly string[], readonly string[]])[] = [
  [/\brollouts?\b/i, ['轨迹'], ['軌跡']],
  [/\bpolic(?:y|ies)\b/i, ['策略'], ['策略']],
  [/\brewards?\b/i, ['奖励'], ['獎勵']],
  [/\badvantages?\b/i, ['优势'], ['優勢']],
  [/\bmask(?:ed)?\b/i, ['掩码'], ['遮罩']],
  [/\bobservations?\b/i, ['观测'], ['觀測']],
  [/\btokens?\b/i, ['词元'], ['詞元']],
  [/\benvironment\b/i, ['环境'], ['環境']],
  [/\bgradients?\b/i, ['梯度'], ['梯度']],
  [/\bnorms?\b/i, ['范数'], ['範數']],
  [/\bratios?\b/i, ['概率比'], ['機率比']],
  [/\bclipped\b/i, ['裁剪'], ['裁剪']],
  [/\blog-prob(?:abilit(?:y|ies)|s)?\b/i, ['对数概率'], ['對數機率']],
  [/\bentropy\b/i, ['熵'], ['熵']],
  [/\btemperature\b/i, ['温度'], ['溫度']],
  [/\bwarm start\b/i, ['热启动'], ['熱啟動']],
  [/\breference policy\b/i, ['参考策略'], ['參考策略']],
  [/\bcheckpoints?\b/i, ['检查点'], ['檢查點']],
  [/\bbatch\b/i, ['批次'], ['批次']],
  [/\blearning rate\b/i, ['学习率'], ['學習率']],
  [/\boptimiser\b/i, ['优化器'], ['最佳化器']],
  [/\bseeds?\b/i, ['种子'], ['種子']],
  [/\bengine\b/i, ['引擎'], ['引擎']],
  [/\btiers?\b/i, ['难度级'], ['難度級']],
  [/\bheld[ -]out\b/i, ['留出'], ['保留']],
  [/\baccuracy\b/i, ['准确率'], ['準確率']],
  [/\bconfidence interval/i, ['置信区间'], ['信賴區間']],
  [/\bstandard deviation/i, ['标准差'], ['標準差']],
  [/\bself-correction\b/i, ['自我纠正'], ['自我修正']],
  [/\bforged?\b/i, ['伪造'], ['偽造']],
  [/\bworkflows?\b/i, ['工作流'], ['工作流程']],
  [/\bcontext\b/i, ['上下文'], ['上下文']],
  [/\bloss\b/i, ['损失'], ['損失']],
  [/\bupdates?\b/i, ['更新'], ['更新']],
  [/\bcalls?\b/i, ['调用'], ['呼叫']],
  [/\bgroups?\b/i, ['组'], ['組']],
  [/\boutputs?\b/i, ['输出'], ['輸出']],
  [/\bquestions?\b/i, ['题'], ['題']],
  [/\b(?:right|final) answers?\b/i, ['答'], ['答']],
  [/\bbase policy\b/i, ['基础策略'], ['基礎策略']],
  [/\b(?:sampled|sampling)\b/i, ['采样'], ['取樣']],
  [/\btraining\b/i, ['训练'], ['訓練']],
  [/\bmean of\b/i, ['均值'], ['平均']],
  [/\bprompt\b/i, ['提示'], ['提示']],
  [/\bformat\b/i, ['格式'], ['格式']],
  [/\bevaluations?\b/i, ['评估'], ['評估']],
  [/\bKL\b/, ['KL'], ['KL']],
  [/\bweights?\b/i, ['权重'], ['權重']],
  [/\bsnapshot\b/i, ['快照'], ['快照']],
  [/\brecorded run\b/i, ['附带的训练记录', '附带这份训练记录'], ['附帶的訓練紀錄', '附帶這份訓練紀錄']],
  [/\bchatty\b/i, ['啰嗦'], ['囉嗦']],
];

/** The English word stands for something else here. */
const NOT_THE_TERM = new Set<string>([
  // The policy of a shop.
  'tools.error.NotRefundable', 'tools.error.NotExchangeable',
  // Settings of other trainers, by their names.
  'differs.aggregation',
  // Names in code, and of a tag.
  'rule.columns', 'rule.columns.workflow', 'rule.why.missing', 'rule.why.list', 'rule.why.count', 'measure.outputAfterCall',
  // What pupils ask each other.
  'teach.workflows.say',
  // Logarithms of ratios.
  'formula.kl.what', 'elsewhere.overflow.here',
]);

/** Code, in every language. */
const CODE = new Set<string>(['colour.sample']);

/** Messages whose parameter only chooses between singular and plural. */
const PLURAL_ONLY = new Set<string>(['curve.line']);

const SPOKEN = new Set(['aria-label', 'aria-description', 'aria-valuetext', 'title', 'alt', 'placeholder', 'label', 'hint', 'unit', 'empty', 'detail']);

/** Texts that a person would see or hear and that do not come from the catalogue. */
function hardCoded(name: string, text: string): string[] {
  const found: string[] = [];
  const say = (node: ts.Node, words: string): void => {
    if (/\p{L}/u.test(words)) found.push(`${name}:${source.getLineAndCharacterOfPosition(node.pos).line + 1} ${words.trim()}`);
  };
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const words = (node: ts.Node): string => (ts.isStringLiteralLike(node) ? node.text : ts.isTemplateExpression(node) ? [node.head, ...node.templateSpans.map((s) => s.literal)].map((part) => part.text).join('') : '');
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) say(node, node.text);
    if (ts.isJsxExpression(node) && node.expression !== undefined && !ts.isJsxAttribute(node.parent)) say(node, words(node.expression));
    if (ts.isJsxAttribute(node) && SPOKEN.has(node.name.getText()) && node.initializer !== undefined) {
      say(node, words(ts.isJsxExpression(node.initializer) ? (node.initializer.expression ?? node.initializer) : node.initializer));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe('the catalogue', () => {
  it('finds a hard-coded text where there is one', () => {
    expect(hardCoded('x.tsx', '<p title="Hello">{t("a")} World {"again"}{`and ${n}`}</p>')).toHaveLength(4);
    expect(hardCoded('x.tsx', '<p className="hello">{t("a")} · {n}</p>')).toEqual([]);
  });

  it('holds every word of the page', () => {
    const components = sources.filter((name) => name.endsWith('.tsx'));
    expect(components.length).toBeGreaterThan(15);
    expect(components.flatMap((name) => hardCoded(relative(UI, name), read(name)))).toEqual([]);
  });

  it('holds no message that nobody says', () => {
    const code = sources.map(read).join('\n');
    const said = patternsIn(code);
    expect(Object.keys(en).filter((key) => !code.includes(`'${key}'`) && !said.some((pattern) => pattern.test(key)))).toEqual([]);
  });

  it('gives each view the parts that it speaks from', () => {
    const part = new Map([...parts('en')].flatMap(([name, words]) => Object.keys(words).map((key) => [key, name] as const)));
    const views = [...read(join(UI, 'App.tsx')).matchAll(/view\('([^']+)', \[([^\]]*)\], async \(\) => \(await import\('([^']+)'\)/g)];
    expect(views.length).toBeGreaterThan(6);
    const missing = [...views, ['', 'the shell', '', './main.tsx']].flatMap(([, path = '', named = '', file = '']) => {
      const loaded = new Set(['core', ...[...named.matchAll(/'(\w+)'/g)].map(([, name]) => name)]);
      const code = reachable(join(UI, file)).map(read).join('\n');
      const literal = [...code.matchAll(/'([\w.-]+)'/g)].flatMap(([, key = '']) => part.get(key) ?? []);
      // Some message that fits the pattern must be there: which ones are meant cannot be seen here.
      const patterned = patternsIn(code).flatMap((pattern) => {
        const fit = [...part].filter(([key]) => pattern.test(key)).map(([, name]) => name);
        return fit.some((name) => loaded.has(name)) ? [] : fit.slice(0, 1);
      });
      return [...new Set([...literal, ...patterned])].filter((name) => !loaded.has(name)).map((name) => `${path} needs ${name}`);
    });
    expect(missing).toEqual([]);
  });
});

describe.each(['zh-hans', 'zh-hant'] as const)('the catalogue in %s', (language) => {
  const script = language === 'zh-hans' ? 0 : 1;
  const words = Object.assign({}, ...parts(language).values()) as Words;
  const keys = Object.keys(en);

  it('has every part', () => {
    expect([...parts(language).keys()].sort()).toEqual([...parts('en').keys()].sort());
    expect(Object.keys(words).sort()).toEqual([...keys].sort());
  });

  it('is not English', () => {
    const names = /^(?:-?[A-Z][\w.-]*|dLoss\/dlogp|pass@\w|logit|verl|print|[a-zσΣ]|kB|MB|ms)$/;
    const english = keys.filter((key) => {
      const said = say(words[key]);
      // Names, symbols and formulas are written alike in every language.
      return !CODE.has(key) && !/\p{Script=Han}/u.test(said) && said.split(/[^\p{L}\d@/._-]+/u).some((word) => /[A-Za-z]{2}/.test(word) && !names.test(word));
    });
    expect(english).toEqual([]);
  });

  it('uses the parameters of the English messages', () => {
    const lost = keys.flatMap((key) => {
      const given = parametersOf(words[key]);
      return [...parametersOf(en[key])].filter((name) => !given.has(name) && !PLURAL_ONLY.has(key)).map((name) => `${key}: ${name}`);
    });
    expect(lost).toEqual([]);
    expect(keys.filter((key) => /undefined|\[object/.test(say(words[key])))).toEqual([]);
  });

  it('calls each thing by one word', () => {
    const wrong = keys.flatMap((key) => TERMS.flatMap(([english, ...accepted]) =>
      (english.test(say(en[key])) && !NOT_THE_TERM.has(key) && !accepted[script].some((word) => say(words[key]).includes(word))
        ? [`${key}: ${english.source} in “${say(en[key])}”, “${say(words[key])}”`] : [])));
    expect(wrong).toEqual([]);
  });

  it('has the words of the glossary as its terms', () => {
    const unknown = TERMS.flatMap(([english, ...accepted]) => {
      const ids = keys.filter((key) => /^term\.[\w-]+$/.test(key) && english.test(say(en[key])) && !accepted[script].some((word) => say(words[key]).includes(word)));
      return ids.map((key) => `${key}: ${say(words[key])}`);
    });
    expect(unknown).toEqual([]);
  });

  it('has full-width punctuation beside Han', () => {
    expect(keys.filter((key) => /\p{Script=Han}[,;:?!()]|[,;:?!()]\p{Script=Han}|\p{Script=Han}\.(?!\w)/u.test(say(words[key])))).toEqual([]);
  });

  it('has a space between Han and Latin or figures', () => {
    expect(keys.filter((key) => /\p{Script=Han}[A-Za-z\d]|[A-Za-z\d]\p{Script=Han}/u.test(say(words[key]).replaceAll(MARK, '')))).toEqual([]);
  });

  it('is written in its own characters', () => {
    const own = charactersOf(language);
    expect(own.has(language === 'zh-hans' ? '训' : '訓')).toBe(true);
    expect(own.has(language === 'zh-hans' ? '訓' : '训')).toBe(false);
    expect(keys.filter((key) => [...say(words[key]).matchAll(/\p{Script=Han}/gu)].some(([character]) => !own.has(character)))).toEqual([]);
  });
});
