/** Server and runner are replaced by another build while agents run: the same processes go on, and every ending is known. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { statOf } from '../../src/runner/launchers/proc.ts';
import { type Installation, install, root } from '../support/installation.ts';
import { verifies } from '../support/verifies.ts';

let drover: Installation;
afterEach(() => drover.end());

const count = 12;

/** Where the next version is unpacked, beside the running one. */
const nextBuild = (): string => {
  const dir = join(drover.home, 'next-version');
  mkdirSync(dir);
  cpSync(join(root, 'dist'), join(dir, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(dir, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  return join(dir, 'dist');
};

it(verifies('R2', 'R3')('with 12 live runs: 12 pids survive, 12 exit codes are recorded'), async () => {
  drover = await install({ BACKEND_AGENT_CALL_LIMIT: String(count) });
  const gate = join(drover.home, 'gate');
  await drover.api('POST', '/api/agents', {
    name: 'gated',
    adapter: 'command',
    max_parallel_tasks: count,
    command: ['sh', '-c', `read -r code; while ! [ -e ${gate} ]; do sleep 0.2; done; exit "$code"`],
  });
  const codes = Array.from({ length: count }, (_, i) => i + 1);
  const ids: string[] = [];
  for (const code of codes) {
    const body = { message: `${code}\n`, async_mode: true };
    ids.push((await drover.api('POST', '/api/agents/gated/task', body)).body.execution_id);
  }
  const live = async () => (await drover.api('GET', '/api/executions?status=running')).body.executions;
  await drover.until(
    'all run',
    live,
    (rows) => rows.filter((r: { started_at: string | null }) => r.started_at).length === count,
  );
  // A child of theirs has their command line until it becomes `sleep`.
  const leaders = () => {
    const shells = drover.pids('read -r code');
    return shells.filter((pid) => !shells.includes(statOf(pid)?.ppid ?? 0)).sort();
  };
  const before = { pids: leaders(), holder: drover.pids('/holder.js'), runner: drover.pids('/runner.js') };
  expect(before.pids).toHaveLength(count);

  expect(await drover.stop()).toBe(0);
  expect(leaders()).toEqual(before.pids);
  await drover.start(nextBuild());
  await drover.until(
    'the next runner is there',
    async () => drover.pids('/runner.js').filter((pid) => !before.runner.includes(pid)),
    (p) => p.length === 1,
  );
  expect(leaders()).toEqual(before.pids);
  expect(drover.pids('/holder.js')).toEqual(before.holder);

  writeFileSync(gate, '');
  for (const [i, id] of ids.entries())
    expect((await drover.ended(id)).attempts).toMatchObject([{ number: 1, exit_code: codes[i] }]);
  expect(leaders()).toEqual([]);
});
