/** Server and runner are killed while agents run: the true outcome is recorded all the same. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Installation, install, root } from '../support/installation.ts';
import { leavesUnder, placeOf } from '../support/leaves.ts';
import { verifies } from '../support/verifies.ts';

let drover: Installation;
afterEach(() => drover.end());

/** An agent that runs until its `go` file appears, then ends with exit code 7. */
const gated = async () => {
  drover = await install();
  const go = join(drover.home, 'go');
  await drover.api('POST', '/api/agents', {
    name: 'gated',
    adapter: 'command',
    command: ['sh', '-c', `echo begun; while ! [ -e ${go} ]; do sleep 0.05; done; echo over; exit 7`],
  });
  const id: string = (await drover.api('POST', '/api/agents/gated/task', { message: 'x', async_mode: true })).body
    .execution_id;
  await drover.until(
    'it runs',
    async () => (await drover.api('GET', `/api/executions/${id}`)).body,
    (e) => e.started_at !== null,
  );
  return { id, release: () => writeFileSync(go, '') };
};
const attemptOf = async (id: string) => (await drover.ended(id)).attempts;

it(verifies('R2')('the holder that a unit keeps stays through a stop and a start with nothing running'), async () => {
  drover = await install();
  await drover.stop();
  await drover.until(
    'its own holder is gone',
    async () => drover.pids('/holder.js'),
    (pids) => pids.length === 0,
  );
  const [line] = /(?<=^ExecStart=).*/m.exec(readFileSync(join(root, 'deploy/systemd/drover-holder.service'), 'utf8'))!;
  const [program, ...args] = line
    .replaceAll('/opt/drover/current', root)
    .replaceAll('/var/lib/drover', drover.home)
    .split(' ');
  const holder = spawn(program!, args, { cwd: '/', env: {}, stdio: ['ignore', 'pipe', 'ignore'] });
  expect(String((await once(holder.stdout!, 'data'))[0])).toBe('ready\n');
  const run = async () => {
    const given = await drover.api('POST', '/api/agents/three/task', { message: 'x', async_mode: true });
    expect((await drover.ended(given.body.execution_id)).attempts).toMatchObject([{ exit_code: 3 }]);
    expect(drover.pids('/holder.js')).toEqual([holder.pid]);
  };
  await drover.start();
  await drover.api('POST', '/api/agents', { name: 'three', adapter: 'command', command: ['sh', '-c', 'exit 3'] });
  await run();
  expect(await drover.stop()).toBe(0);
  await drover.until(
    'the runner is gone',
    async () => drover.pids('/runner.js'),
    (pids) => pids.length === 0,
  );
  await drover.start();
  await run();
  await drover.stop();
  holder.kill('SIGTERM');
  expect(await once(holder, 'exit')).toEqual([0, null]);
});

describe('kill -9', () => {
  it(
    verifies(
      'R2',
      'R34',
    )('of the server in mid-run: the run ends meanwhile, and the next start records its true outcome'),
    async () => {
      const run = await gated();
      await drover.killServer();
      run.release();
      await drover.start();
      expect(await attemptOf(run.id)).toMatchObject([{ number: 1, exit_code: 7 }]);
    },
  );

  it(verifies('R2')('of the runner in mid-run: another takes over and the exit code is still known'), async () => {
    const run = await gated();
    const [runner] = drover.pids('/runner.js');
    process.kill(runner!, 'SIGKILL');
    await drover.until(
      'another runner is there',
      async () => drover.pids('/runner.js'),
      (p) => p.length > 0 && !p.includes(runner!),
    );
    run.release();
    const attempts = await attemptOf(run.id);
    expect(attempts).toMatchObject([{ number: 1, exit_code: 7 }]);
    const log = (await drover.api('GET', `/api/agents/gated/executions/${run.id}/log`)).body.log;
    expect(JSON.stringify(log).match(/begun/g)).toHaveLength(1);
    expect(JSON.stringify(log).match(/over/g)).toHaveLength(1);
  });

  it(
    verifies('R2', 'R23')('of the holder in mid-run: the end is proven, and the exit code is not invented'),
    async () => {
      const run = await gated();
      const [holder] = drover.pids('/holder.js');
      process.kill(holder!, 'SIGKILL');
      run.release();
      const e = await drover.ended(run.id);
      expect(e.status).toBe('failed');
      expect(e.attempts[0].exit_code).toBeNull();
      expect(['unknown', 'runner_lost', 'killed_unknown', 'no_result']).toContain(e.cause);
    },
  );

  it(verifies('R3')('Ctrl-C says what keeps running, and the next start takes it in'), async () => {
    const run = await gated();
    expect(await drover.stop()).toBe(0);
    expect(drover.output()).toContain('1 agent keeps running under the holder');
    expect(drover.pids('while !')).not.toEqual([]);
    await drover.start();
    await drover.until(
      'it is said',
      async () => drover.output(),
      (o) => o.includes('1 agent that ran when the server before this one left'),
    );
    run.release();
    expect(await attemptOf(run.id)).toMatchObject([{ number: 1, exit_code: 7 }]);
  });

  it('a stop with nothing running leaves no process behind, and no cgroup', async () => {
    const run = await gated();
    run.release();
    await drover.ended(run.id);
    expect(drover.pids('/holder.js')).toHaveLength(1);
    const place = placeOf(drover.pids('/holder.js')[0]);
    expect(leavesUnder(place, drover.home)).toEqual([]);
    expect(await drover.stop()).toBe(0);
    await drover.until(
      'all are gone',
      async () => drover.pids('dist/server'),
      (p) => p.length === 0,
    );
  });
});
