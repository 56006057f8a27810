/** Records of /dev/kmsg as the kernel wrote them (6.18 with v1 here; 5.15 to 6.8 with v2 from reports), and what is ours in them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { killsIn, readKernelLog } from './kernel-log.ts';

const leaf = 'drover-31c9fd01-01m8q50vcm9xrdz33npqaybm3b';
const run = { pid: 26628, startedBootMs: 5_030_000, leafName: leaf };
const bound = (pid: number, memcg: string, global = false) =>
  global
    ? `6,1800,5040693464,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=${memcg},task=node,pid=${pid},uid=0`
    : `6,1800,5040693464,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/x,task_memcg=${memcg},task=node,pid=${pid},uid=0`;
const killed = (pid: number, words = 'Memory cgroup out of memory', us = 5_040_693_494) =>
  `3,1801,${us},-;${words}: Killed process ${pid} (node) total-vm:1121696kB, anon-rss:130048kB, file-rss:32904kB, shmem-rss:0kB, UID:0 pgtables:700kB oom_score_adj:500`;
const log = (...records: string[]) => `${records.join('\n')}\n`;

it(
  verifies('R35', 'D17')('the leader is told apart from another process of its cgroup, and both from everybody else'),
  () => {
    const kills = killsIn(
      log(
        '4,1053,3285932385,-;tail invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=500',
        ' SUBSYSTEM=memory',
        bound(26628, `/process_api/${leaf}`),
        killed(26628),
        bound(777, `/process_api/${leaf}/claude-tool-1`),
        killed(777),
        bound(778, '/system.slice/other.service'),
        killed(778),
        bound(779, `/process_api/${leaf}9`),
        killed(779),
      ),
      run,
    );
    expect(kills.map((k) => [k.by, k.victim])).toEqual([
      ['kernel_cgroup', 'leader'],
      ['kernel_cgroup', 'other'],
    ]);
    expect(kills[0]!.line).toMatch(/^Memory cgroup out of memory: Killed process 26628 \(node\)/);
  },
);

it(verifies('R35')('a host that is short is told apart from a limit that is reached'), () => {
  const short = log(bound(26628, `/user.slice/${leaf}`, true), killed(26628, 'Out of memory'));
  expect(killsIn(short, run)).toMatchObject([{ by: 'kernel_host', victim: 'leader' }]);
});

it('where pids say nothing (another pid namespace) it tells of nobody: the victim may be the leader or a tool', () => {
  const text = log(bound(1, `/a/${leaf}`), killed(1), bound(26628, '/elsewhere'), killed(26628));
  expect(killsIn(text, run, 0, false)).toEqual([]);
});

it('without a cgroup only the leader is known; members of a killed group carry no line of their own', () => {
  const group = log(
    bound(900, '/system.slice/drover.service'),
    '6,1802,5040693490,-;Tasks in /system.slice/drover.service are going to be killed due to memory.oom.group set',
    killed(900),
    killed(26628),
  );
  expect(killsIn(group, { ...run, leafName: null })).toMatchObject([{ victim: 'leader' }]);
});

it('an older process of the same number was somebody else', () => {
  const before = log(killed(26628, 'Out of memory', 3_000_000_000));
  expect(killsIn(before, run)).toEqual([]);
  // The log's clock stands still while the host sleeps, start times do not.
  expect(killsIn(before, run, 2_500_000)).toHaveLength(1);
  // It is not corrected either: on a host that is up for long it may be seconds behind.
  const old = { ...run, startedBootMs: 90 * 86_400_000 };
  expect(killsIn(log(killed(26628, 'Out of memory', (90 * 86_400 - 60) * 1_000_000)), old)).toHaveLength(1);
});

it(verifies('R35')('what a process writes into the log in these words is not the kernel’s'), () => {
  const faked = '13,1900,5040693500,-;Memory cgroup out of memory: Killed process 26628 (node) total-vm:1kB';
  expect(killsIn(log(faked), run)).toEqual([]);
});

it('a log that cannot be read is null; a torn record is skipped', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kmsg-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  expect(readKernelLog(join(dir, 'absent'))).toBeNull();
  writeFileSync(join(dir, 'kmsg'), log('garbage', '3,18', killed(26628)));
  expect(killsIn(readKernelLog(join(dir, 'kmsg'))!, run)).toHaveLength(1);
});
