import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodePolicy, loadPolicy, type FileName } from './checkpoint.ts';
import { parameterLayout, parseConfig } from './config.ts';
import { checkTokens } from './engine.ts';
import { initialWeights } from './initialise.ts';
import { encodeSafetensors } from './safetensors.ts';
import { ARITHMETIC_SPECIALS, PRINTABLE, Tokenizer } from './tokenizer.ts';

const tokenizer = new Tokenizer();
const json = {
  model_type: 'llama', vocab_size: 112, hidden_size: 16, intermediate_size: 24, num_hidden_layers: 2, num_attention_heads: 4,
  num_key_value_heads: 2, max_position_embeddings: 64, rms_norm_eps: 1e-5, rope_theta: 10_000, tie_word_embeddings: false,
  bos_token_id: 1, eos_token_id: 2, pad_token_id: 0,
};
const config = parseConfig(json);

describe('the configuration', () => {
  it('has the parameters of a Llama', () => {
    const toy = parseConfig({ ...json, hidden_size: 64, intermediate_size: 128, num_key_value_heads: 4, tie_word_embeddings: true });
    expect(parameterLayout(toy).size).toBe(89_408);
    const small = parseConfig({ ...json, hidden_size: 32, intermediate_size: 64, num_attention_heads: 2, num_key_value_heads: 2, tie_word_embeddings: true });
    expect(parameterLayout(small).size).toBe(24_224);
  });

  it('lays parameters out without gaps', () => {
    const { slices, size } = parameterLayout(config);
    let at = 0;
    for (const slice of slices) {
      expect(slice.offset).toBe(at);
      at += slice.size;
    }
    expect(size).toBe(at);
  });

  it.each([
    ['num_key_value_heads', 3, 'multiple'], ['hidden_size', 0, 'hidden_size'], ['model_type', 'gpt2', 'model_type'],
    ['hidden_size', 18, 'head_dim'], ['eos_token_id', 500, 'vocab_size'], ['attention_bias', true, 'attention_bias'],
    ['rope_scaling', { factor: 2 }, 'rope_scaling'],
  ])('refuses %s = %j', (key, value, message) => {
    expect(() => parseConfig({ ...json, [key]: value })).toThrow(message);
  });
});

describe('the tokenizer', () => {
  it('has the ids with which the shipped policies were trained', () => {
    expect(tokenizer.size).toBe(107);
    expect(tokenizer.paddedSize).toBe(112);
    expect([...tokenizer.encode('<bos>1+1<think></think>\n')]).toEqual([1, 28, 22, 28, 3, 4, 106]);
    expect(tokenizer.suppressTokens).toEqual([0, 107, 108, 109, 110, 111]);
  });

  it('decodes what it encoded', () => {
    const text = fc.array(fc.oneof(fc.constantFrom(...tokenizer.specials), fc.constantFrom(...tokenizer.words))).map((p) => p.join(''));
    fc.assert(fc.property(text, (t) => { expect(tokenizer.decode(tokenizer.encode(t))).toBe(t); }));
    fc.assert(fc.property(text, (t) => { expect(tokenizer.decode(tokenizer.encodePlain(t))).toBe(t); }));
  });

  it('never makes a special token of a text from outside, and one ? of any strange character', () => {
    expect([...tokenizer.encodePlain('<eos>')].some((id) => tokenizer.isSpecial(id))).toBe(false);
    expect(tokenizer.decode(tokenizer.encodePlain('π🙂'))).toBe('??');
  });

  it('survives its own file, and refuses others', () => {
    const again = Tokenizer.fromJSON(JSON.parse(JSON.stringify(tokenizer.toJSON())));
    expect([...again.encode('<python>print(1)</python>')]).toEqual([...tokenizer.encode('<python>print(1)</python>')]);
    expect(() => Tokenizer.fromJSON({ model: { type: 'BPE' } })).toThrow('tokenizer.json');
  });

  describe('with words of several characters', () => {
    const words = new Tokenizer(ARITHMETIC_SPECIALS, [...PRINTABLE, 'book_flight(', 'book', ' is (gone)', 'é!']);
    const tokens = (t: Tokenizer, text: string): string[] => [...t.encodePlain(text)].map((id) => t.token(id));

    it('takes the longest that fits', () => {
      expect(tokens(words, 'book_flight(2) is (gone)!booked')).toEqual(['book_flight(', '2', ')', ' is (gone)', '!', 'book', 'e', 'd']);
      expect(tokens(words, 'é!é')).toEqual(['é!', '?']);
    });

    it('decodes what it encoded, and never makes a special token of a text from outside', () => {
      const text = fc.array(fc.constantFrom(...words.words.filter((w) => w !== 'é!'), '<eos>')).map((p) => p.join(''));
      fc.assert(fc.property(text, (t) => {
        expect(words.decode(words.encodePlain(t))).toBe(t);
        expect([...words.encodePlain(t)].some((id) => words.isSpecial(id))).toBe(false);
      }));
    });

    it('survives its own file, whose pattern splits text alike', () => {
      const file = words.toJSON() as { pre_tokenizer: { pattern: { Regex: string } } };
      const again = Tokenizer.fromJSON(JSON.parse(JSON.stringify(file)));
      const text = 'book book_flight(x) is (gone';
      expect([...again.encode(text)]).toEqual([...words.encode(text)]);
      expect(text.match(new RegExp(file.pre_tokenizer.pattern.Regex, 'g'))).toEqual(tokens(words, text));
      expect(() => Tokenizer.fromJSON({ ...file, pre_tokenizer: { type: 'Split', pattern: { Regex: '[\\s\\S]' } } })).toThrow('longest first');
    });

    it('refuses a word that is there twice', () => {
      expect(() => new Tokenizer(ARITHMETIC_SPECIALS, [...PRINTABLE, 'a'])).toThrow('there twice');
    });
  });
});

describe('checkpoint files', () => {
  const checkpoint = { config, weights: initialWeights(config, 7), suppressTokens: tokenizer.suppressTokens };
  const files = encodePolicy({ checkpoint, tokenizer });
  const load = (changed: Partial<Record<FileName, Uint8Array | undefined>> = {}) =>
    loadPolicy((name) => Promise.resolve(name in changed ? changed[name] : files[name]));
  const text = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

  it('hold the same weights after reading', async () => {
    const { checkpoint: read } = await load();
    expect(read.config).toEqual(config);
    expect(read.weights).toEqual(checkpoint.weights);
    expect(read.suppressTokens).toEqual(checkpoint.suppressTokens);
  });

  it('are read at any address, from Node\'s buffers too', async () => {
    const whole = files['model.safetensors'];
    const shifted = Buffer.alloc(whole.length + 3).subarray(3);
    shifted.set(whole);
    expect((await load({ 'model.safetensors': shifted })).checkpoint.weights).toEqual(checkpoint.weights);
  });

  it('are refused when truncated, anywhere', async () => {
    const whole = files['model.safetensors'];
    for (const length of [0, 4, 8, 100, whole.length - 1]) {
      await expect(load({ 'model.safetensors': whole.slice(0, length) })).rejects.toThrow(/truncated|header/);
    }
  });

  it('are refused with a wrong shape, dtype, name or number', async () => {
    await expect(load({ 'config.json': text({ ...json, hidden_size: 32 }) })).rejects.toThrow('shape');
    await expect(load({ 'config.json': text({ ...json, num_hidden_layers: 3 }) })).rejects.toThrow('missing');
    await expect(load({ 'config.json': text({ ...json, num_hidden_layers: 1 }) })).rejects.toThrow('not part of the model');
    await expect(load({ 'config.json': text({ ...json, tie_word_embeddings: true }) })).resolves.toBeDefined();
    await expect(load({ 'config.json': new TextEncoder().encode('{') })).rejects.toThrow('not JSON');
    await expect(load({ 'tokenizer.json': undefined })).rejects.toThrow('tokenizer.json is missing');
    const bf16 = new TextDecoder('latin1').decode(files['model.safetensors']).replace('"F32"', '"BF1"');
    await expect(load({ 'model.safetensors': Uint8Array.from(bf16, (c) => c.charCodeAt(0)) })).rejects.toThrow('only F32');
    const nan = checkpoint.weights.slice();
    nan[5] = NaN;
    await expect(load({ 'model.safetensors': encodePolicy({ checkpoint: { ...checkpoint, weights: nan }, tokenizer })['model.safetensors'] })).rejects.toThrow('holds NaN at element 5');
  });

  it('never crash the reader, whatever the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        await expect(load({ 'model.safetensors': bytes })).rejects.toThrow('model.safetensors');
      }),
    );
  });

  it('start their data at a multiple of 8', () => {
    const file = encodeSafetensors(new Map([['a', { shape: [1], data: Float32Array.of(1) }]]));
    expect(Number(new DataView(file.buffer).getBigUint64(0, true)) % 8).toBe(0);
  });
});

describe('token rows', () => {
  it('are refused when empty, too long, or outside the vocabulary', () => {
    expect(() => { checkTokens(config, [new Uint32Array()]); }).toThrow('row 0 is empty');
    expect(() => { checkTokens(config, [Uint32Array.of(1), new Uint32Array(65)]); }).toThrow('row 1 has 65');
    expect(() => { checkTokens(config, [Uint32Array.of(112)]); }).toThrow('outside the vocabulary');
  });
});
