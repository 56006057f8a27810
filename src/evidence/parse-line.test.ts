/** Events, cut events and text; a cut event never says anything that the whole one does not. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLine } from './parse-line.ts';

describe('parseLine', () => {
  it('tells events, cut events and text apart', () => {
    expect(parseLine('{"type":"x"}')).toEqual({ kind: 'event', event: { type: 'x' } });
    expect(parseLine('  {"type":"x","n":1,"deep":{"type":"y"},"t":"ab').kind).toBe('cut');
    expect(parseLine('hello').kind).toBe('text');
    expect(parseLine('"a string"').kind).toBe('text');
    expect(parseLine('').kind).toBe('text');
    // Not cut: something stands behind the object.
    expect(parseLine('{"status":"completed"} (and more)').kind).toBe('text');
  });

  it('reads only the top level of a cut event, up to the cut', () => {
    const text =
      '{"a":{"type":"inner","is_error":true},"type":"result","list":[{"type":"z"}],"is_error":false,"n":-1.5e3,"none":null,"result":"lon';
    expect(parseLine(text)).toEqual({ kind: 'cut', event: { type: 'result', is_error: false, n: -1500, none: null } });
    expect(parseLine('{"text":"quoted \\"type\\":\\"result\\" inside","type":"user","x":tru')).toEqual({
      kind: 'cut',
      event: { text: 'quoted "type":"result" inside', type: 'user' },
    });
  });

  it('never invents: a cut event agrees with the whole one wherever it says anything', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 3 })),
        fc.nat(300),
        (whole, at) => {
          const text = JSON.stringify(whole);
          const parsed = parseLine(text.slice(0, Math.min(at, text.length - 1)));
          if (parsed.kind !== 'cut') return;
          for (const [key, value] of Object.entries(parsed.event)) expect(value).toEqual(JSON.parse(text)[key]);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
