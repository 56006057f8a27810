import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askHolder, checkCli, checkDisk, checkHolder, checkHome, checkMemory, checkNode } from './machine.ts';

let dir: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-doctor-'));
});
afterEach(async () => {
  for (const child of children.splice(0))
    await new Promise((done) => {
      child.once('exit', done);
      child.kill('SIGKILL');
    });
  rmSync(dir, { recursive: true, force: true });
});

describe('what the doctor sees of the machine', () => {
  it('wants Node 24', () => {
    expect(checkNode('24.21.0').state).toBe('ok');
    expect(checkNode('20.19.1')).toMatchObject({ state: 'problem', todo: expect.stringContaining('Node 24') });
  });

  it('probes the home by writing, and leaves nothing behind', () => {
    chmodSync(dir, 0o700);
    expect(checkHome(dir).state).toBe('ok');
    expect(checkHome(join(dir, 'none')).state).toBe('note');
    chmodSync(dir, 0o755);
    expect(checkHome(dir)).toMatchObject({ state: 'problem', todo: `chmod 700 ${dir}` });
    writeFileSync(join(dir, 'file'), '');
    expect(checkHome(join(dir, 'file')).state).toBe('problem');
  });

  it('measures the disk of a home that is not made yet by its nearest directory', async () => {
    expect((await checkDisk(join(dir, 'a', 'b'), 0)).found).toMatch(/free of .* at DROVER_HOME/);
    expect(await checkDisk(dir, 10 ** 9)).toMatchObject({
      state: 'problem',
      todo: expect.stringContaining('DROVER_DISK_FLOOR_MIB'),
    });
  });

  it('says when memory is below the floor at which nothing is started', () => {
    const info = (free: number) => `MemTotal:       1000000 kB\nMemFree:  1 kB\nMemAvailable:   ${free} kB\n`;
    expect(checkMemory(info(500_000), 10).state).toBe('ok');
    expect(checkMemory(info(99_000), 10)).toMatchObject({
      state: 'problem',
      todo: expect.stringContaining('DROVER_MEMORY_FLOOR_PERCENT'),
    });
    expect(checkMemory(info(99_000), 5).state).toBe('ok');
    expect(checkMemory(null, 10).state).toBe('note');
  });

  it('finds Claude Code where the runner does, and calls it a problem only for agents that need it', async () => {
    const packaged = join(dir, 'claude');
    expect(await checkCli('claude', join(dir, 'none'), packaged, true)).toMatchObject({
      state: 'problem',
      found: expect.stringContaining('ENOENT'),
    });
    expect((await checkCli('claude', join(dir, 'none'), packaged, false)).state).toBe('note');
    writeFileSync(packaged, '#!/bin/sh\necho "2.1.332 (Claude Code)"\n', { mode: 0o755 });
    expect(await checkCli('claude', packaged, packaged, true)).toMatchObject({
      state: 'ok',
      found: `2.1.332 (Claude Code) (${packaged})`,
    });
  });
});

describe('the holder, asked at its socket', () => {
  const socket = () => join(dir, 'holder.sock');

  it('greets when it is alive', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../../holder/holder.ts'), dir, socket()], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.push(child);
    await new Promise((ready) => child.stdout!.once('data', ready));
    expect(await askHolder(socket())).toEqual({ alive: true, pid: child.pid, protocol: 1 });
  });

  it('that was never started is a note, and a problem once executions run', async () => {
    const state = await askHolder(socket());
    expect(state).toEqual({ alive: false, why: 'ENOENT' });
    expect(checkHolder(state, false).state).toBe('note');
    expect(checkHolder(state, true)).toMatchObject({
      state: 'problem',
      found: expect.stringContaining('while executions run'),
    });
  });

  it('that says nothing, or something else, is not believed', async () => {
    const mute = createServer(() => {});
    await new Promise<void>((ready) => mute.listen(socket(), ready));
    expect(await askHolder(socket(), 20)).toMatchObject({ alive: false, why: expect.stringContaining('says nothing') });
    await new Promise((done) => mute.close(done));
    const other = createServer((line) => line.end('HTTP/1.1 400 Bad Request\n'));
    await new Promise<void>((ready) => other.listen(socket(), ready));
    expect(await askHolder(socket())).toMatchObject({ alive: false, why: expect.stringContaining('language') });
    await new Promise((done) => other.close(done));
  });
});
