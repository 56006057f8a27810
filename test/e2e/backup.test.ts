/**
 * Backup and restore through the bundle: a copy while work goes on, what it refuses, what comes back, and that nothing which
 * may have run since is started again before a person has looked.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, install, root } from '../support/installation.ts';
import { verifies } from '../support/verifies.ts';

let at: Installation;
beforeAll(async () => {
  at = await install();
});
afterAll(() => at.end());

const drover = (...args: string[]) => {
  const done = spawnSync(join(root, 'bin', 'drover'), args, {
    cwd: at.home,
    env: { PATH: process.env.PATH, HOME: at.home, DROVER_HOME: at.home },
    encoding: 'utf8',
  });
  return { code: done.status, out: done.stdout, err: done.stderr };
};

const task = async (message: string) =>
  (await at.api('POST', '/api/agents/echo/task', { message, async_mode: true })).body.execution_id as string;
const statusOf = async (id: string) => (await at.api('GET', `/api/executions/${id}`)).body.status as string | undefined;

describe('backup and restore', () => {
  it('copies while a run goes on, verified, with what it lacks said plainly', async () => {
    await at.api('POST', '/api/agents', { name: 'echo', adapter: 'command', command: ['cat'] });
    await at.api('POST', '/api/agents', { name: 'held', adapter: 'command', command: ['sleep', '3600'] });
    const done = await task('before');
    expect((await at.ended(done)).status).toBe('success');
    const held = (await at.api('POST', '/api/agents/held/task', { message: 'x', async_mode: true })).body.execution_id;
    await at.until(
      'it runs',
      () => statusOf(held),
      (s) => s === 'running',
    );

    const made = drover('backup', '--json');
    expect(made.code, made.err).toBe(0);
    const backup = JSON.parse(made.out);
    expect(backup.executions).toEqual({ total: 2, queued: 0, live: 1 });
    expect(readdirSync(backup.path).sort()).toEqual(['drover.db', 'logs.db', 'manifest.json']);
    expect(statSync(join(at.home, 'backups')).mode & 0o777).toBe(0o700);
    expect(drover('backup').out).toMatch(/verified\nIt does not hold:\n {2}- the key .*secret\.key/);
    await at.api('POST', `/api/agents/held/executions/${held}/terminate`);
    expect((await at.ended(held)).status).toBe('cancelled');
  });

  it('keeps as many as asked, and clears away what a killed server left', async () => {
    execFileSync('mkdir', [join(at.home, 'backups', '2026-01-01.unfinished')]);
    expect(drover('backup', '--keep', '2').code).toBe(0);
    const listed = drover('backup', '--list', '--json')
      .out.trim()
      .split('\n')
      .map((l) => JSON.parse(l));
    expect(listed).toHaveLength(2);
    expect(readdirSync(join(at.home, 'backups'))).toHaveLength(2);
    expect(drover('backup', '--keep', '0')).toMatchObject({
      code: 2,
      err: expect.stringContaining('keep: must be at least 1'),
    });
  });

  it('is for owners', async () => {
    const { key } = (await at.api('POST', '/api/mcp/keys', { name: 'one', scope: 'agent', agent_name: 'echo' })).body;
    const asked = await fetch(`${at.url}/api/backups`, { headers: { authorization: `Bearer ${key}` } });
    expect([403, 404]).toContain(asked.status);
  });

  it(
    verifies('R48')('puts the store back: what came later is gone, the old files are kept, nothing starts by itself'),
    async () => {
      await at.api('POST', '/api/fleet/pause');
      const queued = await task('queued at the time of the backup');
      const backup = JSON.parse(drover('backup', '--json').out);
      await at.api('POST', '/api/fleet/resume');
      expect((await at.ended(queued)).status).toBe('success');
      const later = await task('later');
      await at.ended(later);

      const running = drover('restore', backup.path);
      expect(running).toMatchObject({
        code: 3,
        err: expect.stringContaining('another server runs on this DROVER_HOME'),
      });
      expect(await statusOf(later)).toBe('success');

      await at.stop();
      const restored = drover('restore', backup.path);
      expect(restored.code, restored.err).toBe(0);
      expect(restored.out).toMatch(
        /3 executions[\s\S]*is kept in .*replaced-\d+[\s\S]*1 were queued and may have run since/,
      );
      await at.start();
      expect((await at.api('GET', `/api/executions/${later}`)).status).toBe(404);
      const limits = (await at.api('GET', '/api/fleet/limits')).body;
      expect([limits.paused, limits.queued]).toEqual([true, 1]);
      await at.api('POST', '/api/fleet/resume');
      expect((await at.ended(queued)).status).toBe('success');
    },
  );

  it('refuses what is not whole, and leaves everything as it was', async () => {
    const [backup] = drover('backup', '--json', '--list')
      .out.trim()
      .split('\n')
      .map((l) => JSON.parse(l));
    await at.stop();
    const before = readFileSync(join(at.home, 'drover.db')).length;
    const spoiled = mkdtempSync(join(tmpdir(), 'drover-spoiled-'));
    try {
      expect(drover('restore', spoiled)).toMatchObject({ code: 2, err: expect.stringContaining('not a whole backup') });
      expect(drover('restore', join(spoiled, 'none'))).toMatchObject({
        code: 9,
        err: expect.stringContaining('There is no'),
      });
      cpSync(backup.path, spoiled, { recursive: true });
      appendFileSync(join(spoiled, 'logs.db'), 'x');
      expect(drover('restore', spoiled)).toMatchObject({
        code: 2,
        err: expect.stringContaining('missing or was changed'),
      });
    } finally {
      rmSync(spoiled, { recursive: true });
    }
    expect(readFileSync(join(at.home, 'drover.db')).length).toBe(before);
    expect(existsSync(join(at.home, 'drover.db.restoring'))).toBe(false);
    await at.start();
    expect((await at.api('GET', '/api/agents')).body).toHaveLength(2);
  });
});
