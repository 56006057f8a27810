import { expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { redactor } from './redact.ts';

it(verifies('R45')('hides lent values, also where JSON escapes them, and keys known by their form'), () => {
  const clean = redactor(['lent"value-1', 'short']);
  expect(clean('a lent"value-1 b')).toBe('a [hidden] b');
  expect(JSON.parse(clean(JSON.stringify({ text: 'KEY=lent"value-1' })))).toEqual({ text: 'KEY=[hidden]' });
  expect(clean('sk-ant-api03-abcdefghijklmnopqrstuvwxyz')).toBe('[hidden]');
  expect(clean('short words and ask-me stay')).toBe('short words and ask-me stay');
});
