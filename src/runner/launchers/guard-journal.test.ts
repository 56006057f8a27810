/** Lines of memory guards as they were reported (untether#222, omarchy#9799, systemd and earlyoom sources), in `journalctl -o json`. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { guardKillsIn, readGuardJournal } from './guard-journal.ts';

const scope = '/user.slice/user-1000.slice/user@1000.service/app.slice/drover-holder-ab-1.scope';
const run = { pid: 7326, cgroup: `/sys/fs/cgroup${scope}/drover-x-att1` };
const journal = (...messages: (string | number[])[]) =>
  messages.map((MESSAGE) => JSON.stringify({ MESSAGE })).join('\n');
const oomd = (cgroup: string) =>
  `Killed ${cgroup} due to memory pressure for /user.slice/user-1000.slice being 61.51% > 50.00% for > 20s with reclaim activity`;

describe('a memory guard', () => {
  it(verifies('R35')('earlyoom names a process: only ours counts'), () => {
    const lines = [
      'low memory! at or below SIGTERM limits: mem 10.00%, swap 10.00%',
      'sending SIGTERM to process 7326 uid 1000 "node": badness 924, VmRSS 1345 MiB',
      'sending SIGTERM to process 73260 uid 1000 "node": badness 924, VmRSS 1345 MiB',
      'sending SIGKILL to process 12 uid 0 "other": oom_score 1035, oom_score_adj 300, VmRSS 270 MiB, cmdline "x"',
    ];
    expect(guardKillsIn(journal(...lines), run)).toEqual([{ by: 'earlyoom', victim: 'leader', line: lines[1] }]);
  });

  it(verifies('R35')('systemd-oomd names a cgroup: ours, or one above it'), () => {
    const named = (cgroup: string) => guardKillsIn(journal(oomd(cgroup)), run).map((k) => [k.by, k.victim]);
    expect(named(scope)).toEqual([['systemd_oomd', 'all']]);
    expect(named('/user.slice')).toEqual([['systemd_oomd', 'all']]);
    expect(named(`${scope}/drover-x-att1`)).toHaveLength(1);
    expect(named(`${scope}/drover-x-att2`)).toEqual([]);
    expect(named('/app.slice')).toEqual([]);
    expect(named('/user.slice/user-1000.slice/user@1000.service/app.slice/drover-holder')).toEqual([]);
    const swap =
      'Killed /user.slice due to memory used (123) / total (130) and swap used (9) / total (9) being more than 90.00%';
    expect(guardKillsIn(journal(swap), run)).toHaveLength(1);
    expect(guardKillsIn(journal(oomd('/user.slice')), { ...run, cgroup: null })).toEqual([]);
  });

  it('that says something else, in bytes or in torn lines, says nothing', () => {
    expect(guardKillsIn(`${journal([1, 2, 3], 'earlyoom 1.7')}\n{"MESS`, run)).toEqual([]);
  });
});

describe('the journal', () => {
  const program = (body: string): string => {
    const dir = mkdtempSync(join(tmpdir(), 'journal-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    writeFileSync(join(dir, 'journalctl'), `#!/bin/sh\n${body}\n`);
    chmodSync(join(dir, 'journalctl'), 0o755);
    return join(dir, 'journalctl');
  };
  const read = (path: string, there = true) => readGuardJournal(1_796_000_000_400, path, () => there);

  it('is asked for both guards since the start of the run, and for nothing else', async () => {
    const asked = await read(program('printf "%s\\n" "$@"'));
    expect(asked?.split('\n')).toEqual(expect.arrayContaining(['--since=@1796000000', 'earlyoom', 'systemd-oomd']));
  });

  it('that is not there, fails or cannot be started is null', async () => {
    expect(await read(program('echo "{}"'), false)).toBeNull();
    expect(await read(program('exit 1'))).toBeNull();
    expect(await read('/no/such/journalctl')).toBeNull();
  });
});
