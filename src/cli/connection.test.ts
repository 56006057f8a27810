import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { pause } from '../client/pause.ts';
import { readConfig } from '../config.ts';
import { connect, serverUrl } from './connection.ts';
import { CliFailure } from './failure.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'drover-cli-'));
  mkdirSync(join(home, 'run'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const config = (env: Record<string, string> = {}) => readConfig({ DROVER_HOME: home, ...env });
const failure = (run: () => unknown): CliFailure => {
  try {
    run();
  } catch (e) {
    if (e instanceof CliFailure) return e;
  }
  throw new Error('it did not fail');
};

describe('which server', () => {
  it('is the one that runs: its own note outranks the configured port', () => {
    expect(serverUrl(config({ DROVER_PORT: '9000' }))).toBe('http://127.0.0.1:9000');
    writeFileSync(join(home, 'run', 'server.json'), JSON.stringify({ url: 'http://127.0.0.1:41234', pid: 1 }));
    expect(serverUrl(config({ DROVER_PORT: '9000' }))).toBe('http://127.0.0.1:41234');
  });

  it('is the named one before all', () => {
    writeFileSync(join(home, 'run', 'server.json'), JSON.stringify({ url: 'http://127.0.0.1:41234', pid: 1 }));
    expect(serverUrl(config({ DROVER_SERVER_URL: 'https://fleet.example/' }))).toBe('https://fleet.example');
  });

  it('survives a torn note, and asks a server of every address at this one', () => {
    writeFileSync(join(home, 'run', 'server.json'), '{"url": "http://127');
    expect(serverUrl(config({ DROVER_HOST: '0.0.0.0' }))).toBe('http://127.0.0.1:8420');
    expect(serverUrl(config({ DROVER_HOST: '::1' }))).toBe('http://[::1]:8420');
  });
});

describe('which key', () => {
  it('takes the token of this home, and DROVER_TOKEN before it', () => {
    writeFileSync(join(home, 'owner.token'), 'secret\n');
    expect(connect(config(), pause).url).toBe('http://127.0.0.1:8420');
    expect(connect(config({ DROVER_TOKEN: 'drover_x', DROVER_SERVER_URL: 'https://fleet.example' }), pause).url).toBe(
      'https://fleet.example',
    );
  });

  it(verifies('R44', 'R45')('never sends the token of this machine to another one'), () => {
    writeFileSync(join(home, 'owner.token'), 'secret');
    const e = failure(() => connect(config({ DROVER_SERVER_URL: 'https://fleet.example' }), pause));
    expect(e.exit).toBe('refused');
    expect(e.hints.join()).toContain('DROVER_TOKEN');
    expect(e.message + e.hints.join()).not.toContain('secret');
  });

  it('says how to start a server when none ever ran here', () => {
    const e = failure(() => connect(config(), pause));
    expect(e.exit).toBe('unreachable');
    expect(e.message).toContain(home);
    expect(e.hints.join()).toMatch(/npm start.*http:\/\/127\.0\.0\.1:8420/);
  });
});
