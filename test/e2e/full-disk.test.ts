/**
 * The disk fills up to its last page, in each phase of a run, under the whole installation: nothing is accepted that is not on
 * disk, nothing that was accepted is lost, each ending is the true one, and whoever asks is told what is wrong and goes on when
 * there is room again.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Installation, install, root } from '../support/installation.ts';
import { gitIn, makeRepo, stateOf } from '../support/repo.ts';
import { noSmallDisk, type SmallDisk, smallDisk } from '../support/small-disk.ts';
import { verifies } from '../support/verifies.ts';

const why = noSmallDisk();

describe.skipIf(why !== null)(`a full disk${why === null ? '' : ` (skipped: ${why})`}`, () => {
  let disk: SmallDisk;
  let drover: Installation;
  beforeEach(async () => {
    disk = smallDisk();
    const home = join(disk.path, 'home');
    mkdirSync(home);
    drover = await install({}, home);
  });
  afterEach(async () => {
    disk.free();
    await drover.end();
    disk.end();
  });

  const agent = async (name: string, script: string, more: object = {}) => {
    const made = await drover.api('POST', '/api/agents', {
      name,
      adapter: 'command',
      command: ['sh', '-c', script],
      ...more,
    });
    expect(made.status).toBe(201);
  };
  const task = (name: string) => drover.api('POST', `/api/agents/${name}/task`, { message: 'x', async_mode: true });
  const row = async (id: string) => (await drover.api('GET', `/api/executions/${id}`)).body;
  const ids = async () =>
    (await drover.api('GET', '/api/executions?limit=200')).body.executions.map((e: { id: string }) => e.id).sort();
  /** Runs until `release` is called, then ends with 7. */
  const gated = async (script = 'echo over', more: object = {}) => {
    // The gate is not on the disk: it must open while that is full.
    const go = join('/dev/shm', `drover-gate-${process.pid}-${drover.home.split('/').at(-2)}`);
    await agent('gated', `echo begun; while ! [ -e ${go} ]; do sleep 0.05; done; rm ${go}; ${script}; exit 7`, more);
    const id: string = (await task('gated')).body.execution_id;
    const begun = async () =>
      JSON.stringify((await drover.api('GET', `/api/agents/gated/executions/${id}/log`)).body.log);
    await drover.until('it has begun', begun, (log) => log?.includes('begun') === true);
    return { id, release: () => writeFileSync(go, '') };
  };
  const acceptedAgain = async (name: string): Promise<string> =>
    (
      await drover.until(
        'work is accepted again',
        () => task(name),
        (a) => a.status === 202,
      )
    ).body.execution_id;
  /** Until nothing at all can be written: what was kept for endings is used up, too. */
  const fillWhole = async () => {
    disk.fill();
    for (const part of ['', 'runner']) {
      const ballast = join(drover.home, part, 'ballast');
      await drover.until(
        'the ballast is gone',
        async () => {
          if (part === 'runner') spawnSync('rm', ['-f', ballast]);
          else await task('gated');
          return existsSync(ballast);
        },
        (there) => !there,
      );
      disk.fill();
    }
    expect(disk.freeBytes()).toBe(0);
  };

  it(
    verifies(
      'R34',
      'R46',
      'D33',
    )('at the door: nothing is accepted that is not on disk, in words that say so; with room again it goes on'),
    async () => {
      await agent('echo', 'cat');
      const before: string = (await task('echo')).body.execution_id;
      await drover.ended(before);
      const accepted = [before];
      // Full; then what the ballast gave back is full, too.
      for (const round of ['first', 'second']) {
        disk.fill();
        for (let i = 0; i < 5; i++) {
          const answer = await task('echo');
          expect(answer.status, round).toBe(503);
          expect(answer.body.error).toMatchObject({ code: 'store_failed', retryable: true });
          expect(answer.body.error.message).toMatch(/^The disk is full.* Nothing was stored; free some space\./);
        }
      }
      expect((await drover.api('GET', '/health')).body.status).toBe('healthy');
      expect(await ids()).toEqual(accepted);
      await drover.killServer();
      await expect(drover.start()).rejects.toThrow(/the disk is full\. Free some space and start again/);
      disk.free();
      await drover.start();
      expect(await ids()).toEqual(accepted);
      accepted.push(await acceptedAgain('echo'));
      expect((await drover.ended(accepted[1]!)).status).toBe('success');
      expect(await ids()).toEqual(accepted.sort());
    },
  );

  it(verifies('R34', 'D33')('while it runs: its ending is recorded in the space that was kept for it'), async () => {
    const run = await gated();
    disk.fill();
    expect((await task('gated')).status).toBe(503);
    run.release();
    const e = await drover.ended(run.id);
    expect(e).toMatchObject({ status: 'failed', attempts: [{ number: 1, exit_code: 7, signal: null }] });
    expect(disk.freeBytes()).toBeLessThan(20 * 1024 ** 2);
    disk.free();
    await acceptedAgain('gated');
  });

  it(
    verifies(
      'R34',
      'R2',
      'D33',
    )(
      'when its facts are due and not a byte can be written: they wait, also for a runner and a server that are killed',
    ),
    async () => {
      const run = await gated();
      await fillWhole();
      const leader = drover.pids('while !')[0]!;
      run.release();
      await drover.until(
        'it has exited',
        async () => drover.pids('while !'),
        (pids) => !pids.includes(leader),
      );
      expect((await row(run.id)).status).toBe('running');
      const [runner] = drover.pids('/runner.js');
      process.kill(runner!, 'SIGKILL');
      await drover.killServer();
      disk.free();
      await drover.start();
      expect(await drover.ended(run.id)).toMatchObject({ attempts: [{ number: 1, exit_code: 7, signal: null }] });
      const { log } = (await drover.api('GET', `/api/agents/gated/executions/${run.id}/log`)).body;
      expect(JSON.stringify(log).match(/begun/g)).toHaveLength(1);
    },
  );

  it(
    verifies(
      'R31',
      'R34',
    )(
      'at the commit of the work: it is said where it lies, and a resume goes on there; the person’s tree is untouched',
    ),
    async () => {
      const repo = makeRepo(join(disk.path, 'repo'), { a: '1\n' });
      const before = stateOf(repo);
      const more = { workspace: repo, workspace_mode: 'worktree' };
      const run = await gated('[ -e work ] && cat work; head -c 9000000 /dev/urandom > work', more);
      // Room for the file, and not for the file and its commit.
      disk.fill(12_000_000);
      run.release();
      const e = await drover.ended(run.id);
      expect(e).toMatchObject({ status: 'failed', attention: expect.arrayContaining(['work_not_kept']) });
      const { workspace, exit_code } = e.attempts[0];
      expect([exit_code, workspace.ref]).toEqual([7, null]);
      expect(workspace.keep_error).toContain('No space left on device');
      expect(workspace.keep_error).toContain(`The files are still in ${workspace.path}`);
      expect(readdirSync(workspace.path)).toContain('work');
      const diff = async () => (await drover.api('GET', `/api/executions/${run.id}/diff`)).body;
      expect(await diff()).toMatchObject({ ref: null, note: expect.stringContaining('No space left on device') });
      disk.free();
      const resumed = await drover.api('POST', `/api/executions/${run.id}/resume`, {});
      expect(resumed.status).toBe(202);
      const ref = `refs/drover/${run.id}/left`;
      await drover.until(
        'the tree is kept',
        async () => gitIn(repo, 'for-each-ref', ref),
        (refs) => refs !== '',
      );
      expect(Number(gitIn(repo, 'cat-file', '-s', `${ref}:work`))).toBe(9_000_000);
      expect(await diff()).toMatchObject({ ref, diff: expect.stringContaining('b/work'), note: null });
      run.release();
      const next = await drover.ended(resumed.body.execution_id);
      expect(next.attempts[0].workspace).toMatchObject({ keep_error: null, ref: expect.any(String) });
      expect(gitIn(repo, 'log', '--format=%s', next.attempts[0].workspace.ref).split('\n')).toHaveLength(3);
      expect(stateOf(repo)).toEqual(before);
    },
  );

  it(verifies('D33')('at a backup: refused with what is needed, and nothing of it is left'), async () => {
    await agent('echo', 'cat');
    await drover.ended((await task('echo')).body.execution_id);
    disk.fill(100_000);
    const env = { PATH: process.env.PATH, HOME: drover.home, DROVER_HOME: drover.home };
    const made = spawnSync(join(root, 'bin', 'drover'), ['backup'], { cwd: '/', env, encoding: 'utf8' });
    expect(made.status).not.toBe(0);
    expect(made.stderr).toMatch(/A backup needs up to \d+ bytes beside the database, and the disk has \d+ free/);
    expect(readdirSync(join(drover.home, 'backups'))).toEqual([]);
    disk.free();
    expect((await drover.api('POST', '/api/backup', {})).status).toBeLessThan(300);
  });

  it(
    verifies('R19', 'R11')('nearly: new work waits, with the disk as its reason and a word to the operator'),
    async () => {
      await agent('echo', 'cat');
      // A runner tells what it has every 10 s, and at its start.
      await drover.stop();
      disk.fill(1024 ** 3);
      await drover.start();
      const id: string = (await task('echo')).body.execution_id;
      await drover.until(
        'it waits for the disk',
        () => row(id),
        (e) => e.wait?.reason === 'disk',
      );
      const items = async () => (await drover.api('GET', '/api/operator-queue?status=open')).body;
      await drover.until('the operator is told', items, (all) => JSON.stringify(all).includes('too little disk left'));
      disk.free();
      expect((await drover.ended(id)).status).toBe('success');
    },
  );
});
