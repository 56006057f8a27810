/** When the host's logs are looked at: never without a reason, and the guards' only for a signal that nobody here sent. */
import { expect, it } from 'vitest';
import type { LoggedKill } from '../../contract/facts.ts';
import type { HeldRecord } from './attempt-files.ts';
import { type Looked, loggedKills } from './host-kills.ts';
import type { ExitRecord } from './launcher.ts';

const exit = (over: Partial<ExitRecord>): ExitRecord => ({
  exit_code: null,
  signal: null,
  at: 9,
  spawn_error: null,
  ...over,
});
const held: HeldRecord = {
  version: 1,
  attempt: 'a',
  proof: { pid: 7, start_time: 100, boot_id: 'b' },
  started_at: 5,
  held_by: 'cgroup_v2',
  leaf: { kind: 'v2', memory: '/sys/fs/cgroup/user.slice/drover-x-a', cpu: null, procs: [] },
  memory_bytes: 1,
  oom_kills_before: 0,
  host_oom_kills_before: 3,
};
const counters = (oom_kills: number) => ({
  oom_kills,
  oom_group_kills: 0,
  oom_kills_local: 0,
  pressure: { stalled_ms: null, refaulted_bytes: null },
  peak_bytes: null,
  limit_bytes: null,
});
const byKernel: LoggedKill = { by: 'kernel_cgroup', victim: 'leader', line: 'k' };

const look = async (over: Partial<Looked>, kernel: LoggedKill[] | null = [], journal: string | null = '') => {
  const asked: string[] = [];
  const found = await loggedKills(
    { held, exit: exit({ signal: 'SIGKILL' }), counters: counters(0), hostOomKills: 3, stopped: false, ...over },
    {
      kernel: (run) => {
        asked.push(`kernel ${run.pid} ${run.leafName} ${run.startedBootMs}`);
        return kernel;
      },
      guards: async (since) => {
        asked.push(`guards ${since}`);
        return journal;
      },
    },
  );
  return { asked, found };
};

it('a clean end, a crash and a stop of ours ask nobody', async () => {
  expect(await look({ exit: exit({ exit_code: 0 }) })).toEqual({ asked: [], found: null });
  expect(await look({ exit: exit({ signal: 'SIGSEGV' }) })).toEqual({ asked: [], found: null });
  expect(await look({ stopped: true })).toEqual({ asked: [], found: null });
});

it('a counter that rose asks the kernel, also under a leader that lived', async () => {
  const other: LoggedKill = { ...byKernel, victim: 'other' };
  expect(await look({ exit: exit({ exit_code: 0 }), counters: counters(1) }, [other])).toEqual({
    asked: ['kernel 7 drover-x-a 1000'],
    found: [other],
  });
  expect((await look({ counters: counters(1) }, [byKernel])).asked).toEqual(['kernel 7 drover-x-a 1000']);
});

it('a counter of zero is an answer: then only a guard may have sent the signal', async () => {
  expect((await look({})).asked).toEqual(['guards 5']);
  expect((await look({ exit: exit({ signal: 'SIGTERM' }) })).asked).toEqual(['guards 5']);
  expect((await look({ exit: exit({ exit_code: 143 }) })).asked).toEqual(['guards 5']);
});

it('without a cgroup the kernel is asked when the host’s counter rose or cannot be read', async () => {
  const bare = { ...held, leaf: null, oom_kills_before: null };
  const asks = async (hostOomKills: number | null) => (await look({ held: bare, counters: null, hostOomKills })).asked;
  expect(await asks(4)).toEqual(['kernel 7 null 1000', 'guards 5']);
  expect(await asks(null)).toEqual(['kernel 7 null 1000', 'guards 5']);
  expect(await asks(3)).toEqual(['guards 5']);
});

it('an end that nobody saw asks both; logs that cannot be read are null, not empty', async () => {
  const line = 'sending SIGTERM to process 7 uid 1000 "node": badness 924';
  const told = await look(
    { exit: null, held: { ...held, oom_kills_before: null } },
    null,
    JSON.stringify({ MESSAGE: line }),
  );
  expect(told.asked).toEqual(['guards 5']);
  expect(told.found).toEqual([{ by: 'earlyoom', victim: 'leader', line }]);
  expect((await look({}, null, null)).found).toBeNull();
});
