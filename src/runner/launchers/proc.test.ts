import { describe, expect, it } from 'vitest';
import { manualClock } from '../../../test/support/manual-clock.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { agentUser, findUser, findUserById } from './agent-user.ts';
import { counter, ended, ownMemory, parseStat, statOf } from './proc.ts';
import { bootId, isAlive } from './proof.ts';
import { watchRss } from './rss-watch.ts';

const line = (name: string, state = 'S') =>
  `77 (${name}) ${state} 5 77 70 0 -1 4194560 100 0 0 0 12 8 30 50 20 0 1 0 123456 1000 50 18446744073709551615`;

describe('/proc/PID/stat', () => {
  it(verifies('R22')('is counted from the last bracket: a name may hold brackets, spaces and line breaks'), () => {
    for (const name of ['node', 'a) S 1 (b', 'x ) y', '))((', 'two\nlines'])
      expect(parseStat(line(name))).toEqual({
        pid: 77,
        state: 'S',
        ppid: 5,
        session: 70,
        cpu_ms: 1000,
        start_time: 123456,
      });
  });

  it('is null for what is no stat, and tells the dead from the living', () => {
    for (const text of ['', 'nonsense', '77 (cut']) expect(parseStat(text)).toBeNull();
    expect([line('x', 'Z'), line('x', 'X'), line('x', 'D')].map((t) => ended(parseStat(t)!))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('agrees with what this process knows of itself', () => {
    const self = statOf(process.pid)!;
    expect(self).toMatchObject({ pid: process.pid, ppid: process.ppid });
    expect(ownMemory(process.pid)).toBeGreaterThan(1024 ** 2);
    expect(isAlive({ pid: process.pid, start_time: self.start_time, boot_id: bootId() })).toBe(true);
    expect(isAlive({ pid: process.pid, start_time: self.start_time - 1, boot_id: bootId() })).toBe(false);
    expect(isAlive({ pid: process.pid, start_time: self.start_time, boot_id: 'another' })).toBe(false);
  });
});

it('a counter is a whole line, or null', () => {
  const text = 'oom 5\noom_kill 2\noom_kill_disable 1\n';
  expect(counter(text, 'oom_kill')).toBe(2);
  expect(counter(text, 'kill')).toBeNull();
  expect(counter(null, 'oom_kill')).toBeNull();
});

describe('DROVER_AGENT_USER', () => {
  const passwd = 'root:x:0:0:root:/root:/bin/bash\nagent:x:1001:1002:,,,:/home/agent:/bin/sh\nbroken:x::\n';

  it('is found in /etc/passwd by name and by id', () => {
    expect(findUser(passwd, 'agent')).toEqual({ name: 'agent', uid: 1001, gid: 1002, home: '/home/agent' });
    expect(findUserById(passwd, 1001)?.name).toBe('agent');
    expect(findUser(passwd, 'broken')).toBeNull();
  });

  it(verifies('R32')('that cannot be is told at start, with what to do'), () => {
    expect(agentUser(null, 0, passwd)).toBeNull();
    expect(agentUser('agent', 0, passwd)?.uid).toBe(1001);
    expect(agentUser('agent', 1001, passwd)).toBeNull();
    expect(() => agentUser('nobody-here', 0, passwd)).toThrow('useradd -m nobody-here');
    expect(() => agentUser('root', 0, passwd)).toThrow('no protection');
    expect(() => agentUser('agent', 1000, passwd)).toThrow('as root');
  });
});

describe('the watch that holds a limit without a cgroup', () => {
  it(
    verifies('R27')(
      'looks each second, keeps the peak, and says at every look that the limit is passed until it is stopped',
    ),
    async () => {
      const clock = manualClock();
      const mib = 1024 ** 2;
      const uses = [10, 90, null, 40, 100, 101, 300].map((n) =>
        n === null ? null : { cpu_ms: 0, rss_bytes: n * mib },
      );
      const told: string[] = [];
      const watch = watchRss(
        clock,
        100 * mib,
        () => uses.shift() ?? null,
        (detail) => told.push(detail),
      );
      expect(watch.peak).toBeNull();
      await clock.advance(4_000);
      expect(watch.peak).toBe(90 * mib);
      await clock.advance(60_000);
      // The first reason stays with whoever stops; a stop that failed is asked for again.
      expect(told).toEqual(['101 MiB in use, limit 100 MiB', '300 MiB in use, limit 100 MiB']);
      expect(watch.peak).toBe(300 * mib);
      watch.stop();
      uses.push({ cpu_ms: 0, rss_bytes: 400 * mib });
      await clock.advance(60_000);
      expect(told).toHaveLength(2);
    },
  );
});
