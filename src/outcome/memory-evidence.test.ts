/** Was it memory? Each witness alone, two that contradict each other, and what a person then reads. */
import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { emptyFacts, type Facts, type LoggedKill, type MemoryFacts } from '../contract/facts.ts';
import { diagnose } from './diagnose.ts';
import { operatorItems } from './operator-item.ts';

const mib = 1024 * 1024;
const memory = (over: Partial<MemoryFacts> = {}): MemoryFacts => ({
  held_by: 'cgroup_v2',
  limit_bytes: 384 * mib,
  peak_bytes: 384 * mib,
  oom_kills_before: 0,
  oom_kills_after: 0,
  oom_group_kills: 0,
  host_oom_kills_before: 5,
  host_oom_kills_after: 5,
  ...over,
});
const none = {
  limit_bytes: null,
  peak_bytes: null,
  oom_kills_before: null,
  oom_kills_after: null,
  oom_group_kills: null,
};
const bare = (over: Partial<MemoryFacts> = {}): MemoryFacts => memory({ held_by: 'none', ...none, ...over });
const factsWith = (m: MemoryFacts | null, over: Partial<Facts> = {}): Facts => ({
  ...emptyFacts('claude'),
  signal: 'SIGKILL',
  spawned_at: 1_000,
  ended_at: 61_000,
  memory: m,
  ...over,
});
const judge = (...args: Parameters<typeof factsWith>) => diagnose(factsWith(...args));
const kill = (by: LoggedKill['by'], victim: LoggedKill['victim']): LoggedKill => ({
  by,
  victim,
  line: `${by} killed ${victim}`,
});

describe('the counters of the run’s own cgroup', () => {
  it(verifies('R35', 'D17')('prove it together with a leader that died by SIGKILL, told as signal, 137 or 128'), () => {
    const rose = memory({ oom_kills_after: 1 });
    for (const end of [{}, { signal: null, exit_code: 137 }, { signal: null, exit_code: 128 }])
      expect(judge(rose, end)).toMatchObject({ cause: 'oom_killed', confidence: 'proven', retryable: false });
    expect(judge(memory())).toMatchObject({ cause: 'killed_unknown', confidence: 'unknown' });
    expect(judge(rose, { signal: 'SIGTERM' }).cause).toBe('killed_unknown');
    expect(judge(rose, { signal: null, exit_code: 1 }).cause).not.toBe('oom_killed');
  });

  it(verifies('R35')('prove it for a whole group, though the count of single kills is not there'), () => {
    expect(judge(memory({ oom_group_kills: 1 }))).toMatchObject({ cause: 'oom_killed', confidence: 'proven' });
  });

  it(
    verifies(
      'R35',
      'D17',
    )('count a tool that the CLI keeps in a cgroup below: then nobody knows who killed the leader'),
    () => {
      const below = judge(memory({ oom_kills_after: 1, oom_kills_local: 0 }));
      expect(below).toMatchObject({ cause: 'killed_unknown', attention: ['tool_oom'] });
      expect(judge(memory({ oom_kills_after: 2, oom_kills_local: 1 })).cause).toBe('oom_killed');
      // Members of a group are counted where they stood; the group is what was killed.
      expect(judge(memory({ oom_kills_after: 3, oom_kills_local: 0, oom_group_kills: 1 })).cause).toBe('oom_killed');
    },
  );
});

describe('the kernel’s log', () => {
  it(verifies('R35')('proves it where no counter can be read, and when nobody saw the end'), () => {
    const logged_kills = [kill('kernel_cgroup', 'leader')];
    expect(judge(bare({ logged_kills }))).toMatchObject({ cause: 'oom_killed', confidence: 'proven' });
    expect(judge(bare({ logged_kills }), { signal: null }).cause).toBe('oom_killed');
    expect(judge(bare({ logged_kills }), { signal: null, exit_code: 0 }).cause).not.toBe('oom_killed');
  });

  it(verifies('R35', 'D17')('tells that every kill that was counted was somebody else’s'), () => {
    const others = [kill('kernel_cgroup', 'other'), kill('kernel_cgroup', 'other')];
    expect(judge(memory({ oom_kills_after: 2, logged_kills: others }))).toMatchObject({
      cause: 'killed_unknown',
      attention: ['tool_oom'],
    });
    // The ring forgets: one kill more was counted than it tells of.
    expect(judge(memory({ oom_kills_after: 3, logged_kills: others })).cause).toBe('oom_killed');
  });
});

describe('a CLI behind a wrapper', () => {
  const line = (name: string) => `Memory cgroup out of memory: Killed process 2402 (${name}) total-vm:584484kB`;
  const logged = (name: string, by: LoggedKill['by'] = 'kernel_cgroup') =>
    memory({ oom_kills_after: 1, logged_kills: [{ by, victim: 'other', line: line(name) }] });
  const codex = { stream: emptyFacts('codex').stream };

  it(verifies('R35', 'D17')('is the CLI: the package of Codex ends by the signal that the native program got'), () => {
    expect(judge(logged('codex'), codex)).toMatchObject({ cause: 'oom_killed', confidence: 'proven', attention: [] });
    expect(judge(logged('codex', 'kernel_host'), codex).message).toMatch(/host|machine/);
    // A tool of that size, and then somebody killed the wrapper.
    expect(judge(logged('python3'), codex)).toMatchObject({ cause: 'killed_unknown', attention: ['tool_oom'] });
    expect(judge(logged('codex'), { ...codex, signal: 'SIGTERM' }).cause).toBe('killed_unknown');
    expect(judge(logged('codex'), { ...codex, signal: null, exit_code: 1 }).cause).not.toBe('oom_killed');
    expect(judge(logged('codex')).cause).toBe('killed_unknown');
  });
});

describe('a host that is short', () => {
  it(
    verifies('R35', 'R42')('is told apart from a limit that is reached: raising the limit would change nothing'),
    () => {
      const limit = judge(memory({ oom_kills_after: 1 })).message;
      expect(limit).toContain(
        'Killed by the kernel: out of memory, limit 384 MiB, peak 384 MiB. Raise resources.memory',
      );
      const byLog = memory({ oom_kills_after: 1, logged_kills: [kill('kernel_host', 'leader')] });
      const byPeak = memory({ oom_kills_after: 1, peak_bytes: 100 * mib });
      const byCounter = bare({ host_oom_kills_after: 6 });
      for (const m of [byLog, byPeak, byCounter]) {
        const { message, cause } = judge(m);
        expect(cause).toBe('oom_killed');
        expect(message).toContain('Killed by the kernel: the host was out of memory');
        expect(message).toContain('Lower the fleet limit');
        expect(message).not.toContain('resources.memory');
      }
      const facts = factsWith(byPeak);
      const [item] = operatorItems(diagnose(facts), facts, { name: 'a', memory_bytes: 384 * mib });
      expect(item?.evidence.join('\n')).toContain('the host itself was short');
    },
  );

  it(verifies('R35')('by its counter alone is likely, never proven: the victim may have been another process'), () => {
    expect(judge(bare({ host_oom_kills_after: 6 }))).toMatchObject({ cause: 'oom_killed', confidence: 'likely' });
    expect(judge(bare())).toMatchObject({ cause: 'killed_unknown' });
    // A counter of its own that did not move is the better witness.
    expect(judge(memory({ host_oom_kills_after: 9 })).cause).toBe('killed_unknown');
    expect(judge(bare({ host_oom_kills_before: null })).cause).toBe('killed_unknown');
  });
});

describe('a memory guard', () => {
  it(verifies('R35')('is proven by its own words about this very run alone'), () => {
    const earlyoom = memory({ logged_kills: [kill('earlyoom', 'leader')] });
    expect(judge(earlyoom, { signal: null, exit_code: 143 })).toMatchObject({
      cause: 'memory_pressure_killed',
      confidence: 'proven',
      retryable: true,
    });
    expect(judge(memory({ logged_kills: [kill('systemd_oomd', 'all')] }), { signal: null })).toMatchObject({
      cause: 'memory_pressure_killed',
    });
    expect(judge(memory(), { signal: null, exit_code: 143 }).cause).toBe('killed_unknown');
  });
});

describe('pressure without a kill', () => {
  const stop = { reason: 'deadline' as const, at: 61_000, detail: '60 s' };
  const slow = (pressure: MemoryFacts['pressure'], over: Partial<Facts> = {}) =>
    judge(memory({ pressure }), { stop, timeout_s: 60, run_ms: 60_000, ...over });

  it(verifies('R35')('stands beside a deadline and a stall: by stalled time, or by pages read again and again'), () => {
    const byTime = slow({ stalled_ms: 30_000, refaulted_bytes: 0 });
    expect(byTime).toMatchObject({ cause: 'timed_out', attention: ['memory_pressure'] });
    expect(byTime.evidence).toContain('memory pressure: nothing of it could go on for 50 % of its time');
    expect(byTime.message).toMatch(/raise resources\.memory/);
    const byPages = slow({ stalled_ms: null, refaulted_bytes: 40 * 384 * mib }, { stop: { ...stop, reason: 'stall' } });
    expect(byPages).toMatchObject({ cause: 'stalled', attention: ['memory_pressure'] });
    expect(byPages.evidence.at(-1)).toContain('read 40 times its memory again');
  });

  it('is not seen in a busy build, nor told of a run that ended well or was cancelled', () => {
    expect(slow({ stalled_ms: 5_000, refaulted_bytes: 2 * 384 * mib }).attention).toEqual([]);
    expect(slow({ stalled_ms: null, refaulted_bytes: null }).attention).toEqual([]);
    expect(slow({ stalled_ms: 30_000, refaulted_bytes: 0 }, { stop: { ...stop, reason: 'cancel' } }).attention).toEqual(
      [],
    );
    const done = { type: 'result', subtype: 'success', is_error: false, result: 'x' };
    const facts = factsWith(memory({ pressure: { stalled_ms: 30_000, refaulted_bytes: 0 } }), { stop, run_ms: 60_000 });
    facts.stream.result = done;
    expect(diagnose(facts)).toMatchObject({ cause: 'success', attention: [] });
  });
});
