/** Claim time with 100 and with 100,000 rows queued: the store alone, on disk as in production, over 50 agents. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/kernel/clock.ts';
import { systemRandom, timeOrderedIds } from '../src/kernel/ids.ts';
import { openStore } from '../src/store/open.ts';
import { anAgent, aRequest, wideRoom } from '../test/support/rows.ts';
import { type Figure, median } from './measure.ts';

const agents = 50;
const claimsTimed = 200;
const clock = systemClock();
const ids = timeOrderedIds(systemRandom);

const timed = async (queued: number): Promise<{ ms: number; scanned: number }> => {
  const home = mkdtempSync(join(tmpdir(), 'drover-claims-'));
  const store = await openStore({ home });
  const at = () => ({ now: clock.now(), steady: clock.steady() });
  const limits = { agent_call_limit: 1000, max_depth: 8, memory_floor: 0, disk_floor_bytes: 0 };
  try {
    const rows = Array.from({ length: agents }, (_, i) =>
      anAgent({ id: ids.next(clock.now()), name: `a-${i}`, max_parallel_tasks: 100, max_backlog_depth: 10_000 }),
    );
    for (const agent of rows) await store.write('create_agent', { agent, ...at() });
    for (let i = 0; i < queued; i += 500)
      await Promise.all(
        Array.from({ length: Math.min(500, queued - i) }, (_, k) => {
          const agent = rows[(i + k) % agents]!;
          const id = ids.next(clock.now());
          return store.write('enqueue', {
            id,
            request: aRequest({ agent_name: agent.name }),
            agent_id: agent.id,
            caller: null,
            idempotency: null,
            queue_budget_ms: null,
            timeout_s: 3600,
            max_retries: 0,
            max_depth: 8,
            fresh_session_id: ids.next(clock.now()),
            open_call: null,
            ...at(),
          });
        }),
      );
    const took: number[] = [];
    const scanned: number[] = [];
    // One claim per transaction.
    for (let i = 0; i < Math.min(claimsTimed, queued / 2); i++) {
      const began = performance.now();
      const { result } = await store.write('claim_next', {
        runner_id: 'bench',
        room: wideRoom,
        about: { host: 'h', boot_id: 'b', version: '0', isolation: 'none', cgroup: 'none' },
        max: 1,
        lease_ms: 45_000,
        fresh: [{ attempt_id: ids.next(clock.now()), token: `t${i}` }],
        limits,
        ...at(),
      });
      took.push(performance.now() - began);
      scanned.push(result.rows_scanned);
      if (result.claims.length !== 1) throw new Error(`claimed ${result.claims.length}, not 1`);
    }
    return { ms: median(took), scanned: median(scanned) };
  } finally {
    await store.close();
    rmSync(home, { recursive: true, force: true });
  }
};

export const claims = async (): Promise<Figure[]> => {
  const small: number[] = [];
  const large: number[] = [];
  let rows = { small: 0, large: 0 };
  // By turns: the disk's mood must not favour one of them.
  for (let round = 0; round < 3; round++) {
    const a = await timed(100);
    const b = await timed(100_000);
    small.push(a.ms);
    large.push(b.ms);
    rows = { small: a.scanned, large: b.scanned };
  }
  return [
    { what: 'claim, 100 queued', value: median(small), unit: 'ms', aim: null },
    { what: 'claim, 100,000 queued', value: median(large), unit: 'ms', aim: null },
    { what: 'claim, 100,000 ÷ 100 queued', value: median(large) / median(small), unit: '×', aim: { atMost: 1.2 } },
    { what: 'rows looked at, 100 queued', value: rows.small, unit: 'rows', aim: null },
    { what: 'rows looked at, 100,000 queued', value: rows.large, unit: 'rows', aim: null },
  ];
};
