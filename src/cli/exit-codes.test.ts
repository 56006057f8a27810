import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { causeNames, causes } from '../contract/causes.ts';
import { exitCodes, exitOfAnswer, exitOfCause, exitOfEnding } from './exit-codes.ts';

describe('exit codes', () => {
  it('are pinned: a script leans on the numbers', () => {
    expect(Object.fromEntries(Object.entries(exitCodes).map(([name, row]) => [name, row.code]))).toEqual({
      ok: 0,
      failed: 1,
      usage: 2,
      unreachable: 3,
      refused: 4,
      cancelled: 5,
      killed: 6,
      no_room: 7,
      login: 8,
      not_found: 9,
      provider: 10,
      still_running: 11,
      interrupted: 130,
    });
  });

  it('stand in docs/cli.md, each with its words', () => {
    const page = new URL('../../docs/cli.md', import.meta.url);
    expect(existsSync(page)).toBe(true);
    const text = readFileSync(page, 'utf8');
    for (const row of Object.values(exitCodes)) expect(text).toContain(`| ${row.code} | ${row.about} |`);
  });

  it('give 0 to success alone', () => {
    expect(causeNames.filter((c) => exitOfCause(c) === 'ok')).toEqual(['success']);
  });

  it('give every cause whose HTTP status is 504 the code of a killed run', () => {
    for (const cause of causeNames)
      if (causes[cause].status === 504) expect([cause, exitOfCause(cause)]).toEqual([cause, 'killed']);
  });

  it('never call a login problem anything else than login, nor the other way round', () => {
    for (const cause of causeNames) if (causes[cause].short === 'auth') expect(exitOfCause(cause)).toBe('login');
    for (const cause of causeNames)
      if (exitOfCause(cause) === 'login') expect(['auth', 'billing']).toContain(causes[cause].short);
  });

  it('tell an ending by its status first: a cancel during an OOM is a cancel', () => {
    expect(exitOfEnding({ status: 'cancelled', cause: 'oom_killed' })).toBe('cancelled');
    expect(exitOfEnding({ status: 'success', cause: 'success' })).toBe('ok');
    expect(exitOfEnding({ status: 'failed', cause: 'oom_killed' })).toBe('killed');
    expect(exitOfEnding({ status: 'failed', cause: null })).toBe('failed');
  });

  it('tell an answer of the server by its code, and an unknown code by its status', () => {
    expect(exitOfAnswer('backlog_full', 429)).toBe('no_room');
    expect(exitOfAnswer('call_budget_exhausted', 503)).toBe('no_room');
    expect(exitOfAnswer('something_new', 403)).toBe('refused');
    expect(exitOfAnswer('something_new', 404)).toBe('not_found');
    expect(exitOfAnswer('something_new', 422)).toBe('usage');
    expect(exitOfAnswer('something_new', 500)).toBe('unreachable');
  });
});
