/** The exit codes and words of the programs behind `drover start`, `drover runner` and `drover restore`. */
import { expect, it } from 'vitest';
import { ConfigError } from '../config.ts';
import { Fault } from '../contract/errors.ts';
import { programEnd } from './program-end.ts';

it.each([
  [new ConfigError('DROVER_PORT needs a number'), 2],
  [new Fault('invalid', 'DROVER_HOME is a file'), 2],
  [new Fault('not_found', 'There is no /nope'), 9],
  [new Fault('not_ready', 'Port 8420 is in use'), 3],
  [new Fault('store_failed', 'the disk is full'), 3],
])('%s ends with %i, in its own words', (error, code) => {
  expect(programEnd('drover', error, false)).toEqual({ text: `drover: ${error.message}\n`, code });
  const told = programEnd('drover', error, true);
  expect([told.code, JSON.parse(told.text).error.message]).toEqual([code, error.message]);
});

it('a bug is called one, shown whole, and is no wrong call', () => {
  const told = programEnd('drover', new TypeError('x is not a function'), false);
  expect(told.code).toBe(1);
  expect(told.text).toMatch(/^drover: this is a bug\.\nTypeError: x is not a function\n {4}at /);
  expect(JSON.parse(programEnd('drover', 'odd', true).text).error).toMatchObject({ code: 'internal' });
});
