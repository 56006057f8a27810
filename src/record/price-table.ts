/**
 * List prices of models, for one use only: a run that was killed before its CLI could say what it cost. US dollars per million
 * tokens, as the vendor's own page told them (https://platform.claude.com/docs/en/about-claude/pricing and the pages of the
 * models there; read on 2026-11-30). A model that is not here has no estimate: a cost is never invented. Left out on purpose:
 * models whose price hangs on the length of the prompt, and those whose pages did not agree.
 */
import type { StreamFacts, Usage } from '../contract/facts.ts';

interface Price {
  input: number;
  output: number;
  cache_read: number;
  /** Of the cache that lives 5 minutes; the stream does not say which one was written, and the other costs more. */
  cache_write: number;
}
const price = (input: number, output: number, cache_read: number, cache_write: number): Price => ({
  input,
  output,
  cache_read,
  cache_write,
});

const prices: Record<string, Price> = {
  'claude-fable-5-1': price(10, 50, 0.25, 12.5),
  'claude-fable-5': price(10, 50, 1, 12.5),
  'claude-opus-5-5': price(4, 20, 0.2, 5),
  'claude-opus-5': price(5, 25, 0.5, 6.25),
  'claude-opus-4-8': price(5, 25, 0.5, 6.25),
  'claude-opus-4-7': price(5, 25, 0.5, 6.25),
  'claude-opus-4-6': price(5, 25, 0.5, 6.25),
  'claude-opus-4-5': price(5, 25, 0.5, 6.25),
  'claude-opus-4-1': price(15, 75, 1.5, 18.75),
  'claude-opus-4': price(15, 75, 1.5, 18.75),
  'claude-sonnet-5': price(2, 10, 0.2, 2.5),
  'claude-sonnet-4-6': price(3, 15, 0.3, 3.75),
  'claude-sonnet-4-5': price(3, 15, 0.3, 3.75),
  'claude-sonnet-4': price(3, 15, 0.3, 3.75),
  'claude-haiku-4-5': price(1, 5, 0.1, 1.25),
  'claude-3-5-haiku': price(0.8, 4, 0.08, 1),
};

/** `claude-sonnet-4-5-20250929` is `claude-sonnet-4-5`; anything else around a name (`[1m]`, a region) may have other prices. */
const priceOf = (model: string): Price | null => prices[model.replace(/-\d{8}$/, '')] ?? null;

const sum = (p: Price, u: Usage): number =>
  (p.input * u.input_tokens +
    p.output * u.output_tokens +
    p.cache_read * u.cache_read_tokens +
    p.cache_write * u.cache_write_tokens) /
  1e6;

/** Of this run alone, by what its stream counted; null = not known. */
export const estimatedCost = (stream: Pick<StreamFacts, 'cli' | 'model' | 'usage'>): number | null => {
  if (stream.usage === null || stream.model === null || stream.cli !== 'claude') return null;
  const found = priceOf(stream.model);
  return found === null ? null : sum(found, stream.usage);
};
