/**
 * A tokenizer with one id for each special token and each word of a list; the longest word that fits is taken. Words
 * hold the printable ASCII characters and the newline, so that any such text can be written: the arithmetic policies
 * have nothing but these, the workflow policies whole names and phrases beside them.
 * Reads and writes the `tokenizer.json` of Hugging Face `tokenizers`, so that other programs split text alike.
 */
import * as v from 'valibot';
import { ConfigError } from './config.ts';

/** The special tokens of the arithmetic policies, ids 0 to 10. */
export const ARITHMETIC_SPECIALS = [
  '<pad>', '<bos>', '<eos>', '<think>', '</think>', '<python>', '</python>', '<output>', '</output>', '<answer>', '</answer>',
] as const;

/** The special tokens of the workflow policies. Function calling has no answer tag. */
export const WORKFLOW_SPECIALS = [
  '<pad>', '<bos>', '<eos>', '<reasoning>', '</reasoning>', '<tool>', '</tool>', '<tool_result>', '</tool_result>',
] as const;

const TokenizerSchema = v.object({
  added_tokens: v.array(v.object({ id: v.number(), content: v.string(), special: v.boolean() })),
  pre_tokenizer: v.object({ type: v.literal('Split'), pattern: v.object({ Regex: v.string() }) }),
  model: v.object({ type: v.literal('WordLevel'), vocab: v.record(v.string(), v.number()), unk_token: v.string() }),
});

/** What stands for a character that has no id of its own. It is an ordinary character, not a hidden token. */
const UNKNOWN = '?';

export class Tokenizer {
  private readonly idOf = new Map<string, number>();
  private readonly textOf: string[] = [];
  /** Words of more than one character by their first, the longest first. */
  private readonly phrases = new Map<string, string[]>();

  /**
   * @param specials tokens written as `<…>`, first in the vocabulary.
   * @param words the ordinary tokens; must hold `?`.
   */
  constructor(
    readonly specials: readonly string[] = ARITHMETIC_SPECIALS,
    readonly words: readonly string[] = PRINTABLE,
  ) {
    for (const token of [...specials, ...words]) {
      if (token === '' || this.idOf.has(token)) throw new ConfigError(`tokenizer.json: the token ${JSON.stringify(token)} is empty or there twice`);
      this.idOf.set(token, this.textOf.length);
      this.textOf.push(token);
    }
    for (const word of longestFirst(words)) {
      const first = String.fromCodePoint(word.codePointAt(0) ?? 0);
      this.phrases.set(first, [...(this.phrases.get(first) ?? []), word]);
    }
    if (!this.idOf.has(UNKNOWN)) throw new ConfigError('tokenizer.json: the vocabulary must hold "?"');
  }

  /** Ids in use. */
  get size(): number {
    return this.textOf.length;
  }

  /** The size of the embedding: a multiple of 16. */
  get paddedSize(): number {
    return Math.ceil(this.size / 16) * 16;
  }

  /** Ids that are never sampled: `<pad>` and the padding of the vocabulary. */
  get suppressTokens(): number[] {
    const padding = Array.from({ length: this.paddedSize - this.size }, (_, i) => this.size + i);
    return [this.id('<pad>'), ...padding];
  }

  /** The id of a token. @throws RangeError where the vocabulary has no such token. */
  id(token: string): number {
    const id = this.idOf.get(token);
    if (id === undefined) throw new RangeError(`no token ${JSON.stringify(token)} in the vocabulary`);
    return id;
  }

  has(token: string): boolean {
    return this.idOf.has(token);
  }

  isSpecial(id: number): boolean {
    return id < this.specials.length;
  }

  /** Ids of a text. Special tokens are recognised where they are written out. Unknown characters become `?`. */
  encode(text: string): Uint32Array {
    return this.split(text, true);
  }

  /**
   * Ids of a text from outside (a question, the output of a call): a tag written in it is split like other text, so that an environment cannot forge a special token.
   */
  encodePlain(text: string): Uint32Array {
    return this.split(text, false);
  }

  decode(ids: Iterable<number>): string {
    let text = '';
    for (const id of ids) text += this.token(id);
    return text;
  }

  /** The text of one token; padding ids read `<unused 107>`. */
  token(id: number): string {
    return this.textOf[id] ?? `<unused ${id}>`;
  }

  private split(text: string, recogniseSpecials: boolean): Uint32Array {
    const ids: number[] = [];
    const unknown = this.id(UNKNOWN);
    for (let at = 0; at < text.length; ) {
      const special =
        recogniseSpecials && text[at] === '<' ? this.specials.find((token) => text.startsWith(token, at)) : undefined;
      // By code point: a character outside the basic plane is one `?`, not two.
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
      const piece = special ?? this.phrases.get(character)?.find((word) => text.startsWith(word, at)) ?? character;
      ids.push(this.idOf.get(piece) ?? unknown);
      at += piece.length;
    }
    return Uint32Array.from(ids);
  }

  /** What one ordinary token is: a word, the longest first, or else any character. */
  private get pattern(): string {
    return [...longestFirst(this.words).map((word) => word.replaceAll(/[^A-Za-z0-9 ]/g, '\\$&')), '[\\s\\S]'].join('|');
  }

  /** The `tokenizer.json` of Hugging Face `tokenizers`: a word-level model over isolated words. */
  toJSON(): unknown {
    const vocab = Object.fromEntries(this.textOf.map((token, id) => [token, id]));
    return {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: this.specials.map((content, id) => ({
        id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true,
      })),
      normalizer: null,
      pre_tokenizer: { type: 'Split', pattern: { Regex: this.pattern }, behavior: 'Isolated', invert: false },
      post_processor: null,
      decoder: { type: 'Fuse' },
      model: { type: 'WordLevel', vocab, unk_token: UNKNOWN },
    };
  }

  /** @throws ConfigError where the file is not a tokenizer of this kind. */
  static fromJSON(json: unknown): Tokenizer {
    const parsed = v.safeParse(TokenizerSchema, json);
    if (!parsed.success) {
      const [issue] = parsed.issues;
      throw new ConfigError(`tokenizer.json: ${v.getDotPath(issue) ?? ''}: ${issue.message}`);
    }
    const { added_tokens, model, pre_tokenizer } = parsed.output;
    const specials = added_tokens.map((t) => t.content);
    const ordered = Object.entries(model.vocab).sort(([, a], [, b]) => a - b);
    if (ordered.some(([, id], i) => id !== i)) throw new ConfigError('tokenizer.json: ids must run from 0 without gaps');
    if (specials.some((token, i) => ordered[i]?.[0] !== token)) {
      throw new ConfigError('tokenizer.json: special tokens must come first in the vocabulary');
    }
    const tokenizer = new Tokenizer(specials, ordered.slice(specials.length).map(([token]) => token));
    if (pre_tokenizer.pattern.Regex !== tokenizer.pattern) {
      throw new ConfigError('tokenizer.json: text must be split into the words of the vocabulary, the longest first');
    }
    return tokenizer;
  }
}

/** Words of more than one character; those of one need no place in a list. */
function longestFirst(words: readonly string[]): string[] {
  return words.filter((word) => Array.from(word).length > 1).sort((a, b) => b.length - a.length);
}

/** Printable ASCII, then the newline. */
export const PRINTABLE: readonly string[] = [...Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)), '\n'];
