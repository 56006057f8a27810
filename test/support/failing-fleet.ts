/**
 * A fleet on a bad morning, the same each time: what a person should find in it within a minute is known beforehand. The server,
 * its dispatch and its verdicts are the real ones; the history of four days and the runner are played through the real routes,
 * with streams as the CLIs write them, because a night cannot be waited for. Tests, screenshots and trials with people use it.
 *
 *   which limit binds: the fleet's, 6 of 6 · which provider is down: openai · who needs a person: the four of `needs`
 *   what the night cost: `morning.cost` of the API; one login is used up until a known time, one is rejected, one has room
 */
import { executionBearer } from '../../src/contract/principal.ts';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import { claudeRun, codexDown, killedForMemory } from './failing-runs.ts';
import { event } from './fleet.ts';
import type { ServedFleet } from './page-bench.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const MiB = 1024 ** 2;
const fleetLimit = 6;
/** From the first run to the morning. */
export const took = 4 * day;

const work = {
  'api-builder': [
    'Add keyset paging to GET /v2/orders and a test that reads 10,000 rows',
    'Return 409 instead of 500 when two uploads of one file race',
    'Give every error of the payments API its own code, and write them down',
    'Find out why p99 of /search doubled since Tuesday',
  ],
  'web-frontend': [
    'Make the settings form usable at 390 px',
    'The date picker ignores the zone of the account: mend it and prove it with a test',
    'Replace the three spinners of the checkout by one skeleton',
  ],
  'test-fixer': [
    'The suite “billing/proration” fails one time in twenty. Find out why and mend it',
    'Take the sleeps out of the upload tests',
  ],
  reviewer: ['Review pull request 841: is the lock held across the await?', 'Review pull request 856'],
} as const;
type Worker = keyof typeof work;
const workers = Object.keys(work) as Worker[];

interface FailingFleet {
  /** Runs that go on; whoever keeps the fleet up renews them. */
  running: ClaimedWork[];
  /** Executions by what they are there for. */
  ids: Record<'oom' | 'question' | 'down' | 'switched' | 'waits' | 'runs', string>;
}

/** What a runner is given: at once, or when something else becomes due within these ms. */
export const pollFor = async (fleet: ServedFleet, max: number, ms: number): Promise<ClaimedWork[]> => {
  let answered = false;
  const asked = fleet.runner.poll({ max, wait_ms: ms }).finally(() => {
    answered = true;
  });
  while (!answered) {
    // The store answers in order: when it has told the limits twice, it has looked for claims.
    for (let turn = 0; turn < 3 && !answered; turn++) await fleet.api('GET', '/api/fleet/limits');
    if (!answered) await fleet.clock.advance(1_000);
  }
  return (await asked).claims;
};

/** Four days go by on the clock of the fleet. */
export const failTheFleet = async (fleet: ServedFleet): Promise<FailingFleet> => {
  const { clock, api, runner } = fleet;
  const end = clock.now() + took;
  /** Goes on to so many ms before the end; leases and timers stand still meanwhile. */
  const before = async (ms: number) => {
    clock.jump(Math.max(0, end - ms - clock.now()));
    await clock.advance(1);
  };
  const send = async (method: string, path: string, body: unknown) => {
    const answer = await api(method, path, body);
    if (answer.status > 299) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  /** The next claim; what waits for a backoff is waited for. */
  const claim = async (): Promise<ClaimedWork> => {
    for (let tries = 0; ; tries++) {
      const [claimed] = await pollFor(fleet, 1, 25_000);
      if (claimed !== undefined) {
        await runner.begin(claimed);
        await runner.renew([claimed]);
        return claimed;
      }
      if (tries > 20) throw new Error(`nothing to claim: ${(await api('GET', '/api/fleet/limits')).text}`);
    }
  };
  let turn = 0;
  const good = async (agent: Worker, minutes: number, cost: number, used: number) => {
    const id = await fleet.task(agent, work[agent][turn++ % work[agent].length]!);
    const claimed = await claim();
    const run = claudeRun(clock.now(), minutes * minute, { cost, used, seven: used / 2, resetsIn: 3 * hour });
    await runner.log(claimed, run.log);
    clock.jump(minutes * minute);
    await runner.finish(claimed, run.facts);
    return id;
  };

  // By the route, so that agents and plans have one owner: a plan is lent to its owner's agents alone.
  const agent = (name: string, more: object) => send('POST', '/api/agents', { name, ...more });
  for (const name of workers) await agent(name, { model: 'claude-sonnet-4-5', pool: 'plans', max_parallel_tasks: 5 });
  await agent('nightly-audit', { pool: 'keys', resources: { memory: '384m' } });
  for (const name of ['docs-writer', 'migrator']) await agent(name, { adapter: 'codex', pool: 'codex' });
  for (const name of ['plan of anna', 'plan of ben', 'plan of cleo'])
    await send('POST', '/api/subscriptions', {
      name,
      kind: 'claude_oauth',
      token: `sk-ant-oat01-${name.slice(8)}`,
      pool: 'plans',
    });
  await send('POST', '/api/subscriptions', {
    name: 'audit key',
    kind: 'anthropic_api_key',
    token: 'sk-ant-api03-audit',
    pool: 'keys',
  });
  await send('POST', '/api/subscriptions', {
    name: 'codex key',
    kind: 'openai_api_key',
    token: 'sk-codex',
    pool: 'codex',
  });
  await send('PUT', '/api/fleet/limits', { agent_call_limit: fleetLimit });
  await send('PUT', '/api/budgets', { period: 'month', limit_usd: 400 });
  await send('POST', '/api/agents/reviewer/schedules', {
    name: 'morning round',
    cron_expression: '0 7 * * 1-5',
    message: 'Review every pull request that is open for more than a day',
  });
  await send('POST', '/api/agents/nightly-audit/schedules', {
    name: 'audit of the dependencies',
    cron_expression: '30 2 * * *',
    message: 'Read every changed dependency and say what is new in it',
    overlap: 'skip',
  });
  await send('POST', '/api/ops/schedules/pause', {});

  for (let back = 3; back >= 1; back--) {
    await before(back * day + 2 * hour);
    for (const [i, agent] of workers.entries())
      for (let n = 0; n <= (back + i) % 3; n++) await good(agent, 4 + 3 * n, 0.9 + back * 0.7 + i * 0.4, 0.1 + n / 10);
  }

  // The night: mostly good; one agent has too little memory for its work; two plans fall away.
  await before(7 * hour);
  for (let n = 0; n < 9; n++) await good(workers[n % 4]!, 6 + n, 1.15 + (n % 3) * 0.62, 0.3 + n / 20);
  const oom: string[] = [];
  for (let n = 0; n < 3; n++) {
    await before((4.5 - n) * hour);
    oom.push(await fleet.task('nightly-audit', 'Read every changed dependency and say what is new in it'));
    const claimed = await claim();
    const run = killedForMemory(clock.now(), 9 * minute, 384 * MiB);
    await runner.log(claimed, run.log);
    clock.jump(9 * minute);
    await runner.finish(claimed, run.facts);
  }
  const fallsAway = async (how: 'used up' | 'rejected') => {
    const id = await fleet.task('api-builder', work['api-builder'][how === 'rejected' ? 1 : 3]);
    const first = await claim();
    clock.jump(3 * minute);
    const run = claudeRun(clock.now(), 3 * minute, { how, cost: 0.62, resetsAt: end + 134 * minute });
    await runner.log(first, run.log);
    await runner.finish(first, run.facts);
    const again = await claim();
    const mended = claudeRun(clock.now(), 8 * minute, { cost: 2.05, used: 0.61, seven: 0.38, resetsIn: 2 * hour });
    await runner.log(again, mended.log);
    clock.jump(8 * minute);
    await runner.finish(again, mended.facts);
    return id;
  };
  await before(100 * minute);
  const switched = await fallsAway('used up');
  await before(80 * minute);
  await fallsAway('rejected');

  await before(41 * minute);
  const question = await fleet.task('web-frontend', 'Cut 2.4.1 of the web client: changelog, tag, announcement');
  const asking = await claim();
  const asked = await api(
    'POST',
    '/api/operator-queue',
    {
      title: 'Release 2.4.1 from main or from release/2.4?',
      details: 'main has 14 commits that are not in the changelog. release/2.4 has the two fixes alone.',
      options: ['main', 'release/2.4'],
    },
    { authorization: `Bearer ${executionBearer(asking.execution_id, asking.token)}` },
  );
  if (asked.status > 299) throw new Error(asked.text);
  const run = claudeRun(clock.now(), 5 * minute, { cost: 0.74, used: 0.66, seven: 0.4, resetsIn: 2 * hour });
  await runner.log(asking, run.log);
  clock.jump(5 * minute);
  await runner.finish(asking, run.facts);

  await before(26 * minute);
  const down: string[] = [];
  for (const [agent, message] of [
    ['docs-writer', 'Rewrite the section on retries so that an operator finds the three settings'],
    ['migrator', 'Move the three cron jobs of billing to schedules'],
    ['docs-writer', 'Draft the upgrade notes of 2.4'],
  ] as const) {
    down.push(await fleet.task(agent, message));
    if (down.length > 2) break;
    const claimed = await claim();
    const refused = codexDown(clock.now(), 40_000);
    await runner.log(claimed, refused.log);
    clock.jump(40_000);
    await runner.finish(claimed, refused.facts);
  }
  const stillOpen = async () => (await api('GET', '/api/incidents')).body.open === 1;
  if (!(await stillOpen())) throw new Error('two agents failed at one provider, and there is no incident');

  // Probes that meet the same: the next one is minutes away, and what wants to go there waits.
  for (let n = 0; n < 4; n++) {
    await send('POST', '/api/providers/openai/resume', {});
    await runner.finish(await claim(), codexDown(clock.now(), 5_000).facts);
  }

  // What runs now fills the fleet; the rest waits for it.
  const running: ClaimedWork[] = [];
  const messages = workers.flatMap((agent) => work[agent].map((message) => ({ agent, message })));
  const started: string[] = [];
  for (let n = 0; n < fleetLimit; n++) {
    await before((19 - n * 2.5) * minute);
    const { agent, message } = messages[(n * 2) % messages.length]!;
    started.push(await fleet.task(agent, message));
    let claimed = await claim();
    // A probe may come first: the provider is as it was.
    while (claimed.execution_id !== started.at(-1)) {
      await runner.finish(claimed, codexDown(clock.now(), 5_000).facts);
      claimed = await claim();
    }
    running.push(claimed);
    await runner.renew(running);
    await runner.log(claimed, claudeRun(clock.now(), (4 + n) * 20_000, { open: true }).log);
  }
  const waits: string[] = [];
  for (let n = 0; n < 7; n++) {
    await before((4 - n * 0.5) * minute);
    const { agent, message } = messages[(n * 2 + 1) % messages.length]!;
    waits.push(await fleet.task(agent, message, n % 3 === 2 ? { priority: 'batch' } : {}));
  }
  await before(36_000);
  await runner.renew(running);
  // The runner's own sign of life is written now and then, by the steady clock.
  await clock.advance(35_000);
  await pollFor(fleet, 0, 0);
  // A claim whose lease ran out while time went by is given again: the fleet is full when this is done.
  while ((await api('GET', '/api/fleet/limits')).body.running < fleetLimit) running.push(await claim());
  await runner.renew(running);
  await runner.renew(running);
  await runner.log(running[0]!, [event({ type: 'system', subtype: 'status', status: null }, clock.now())], 100);
  return { running, ids: { oom: oom[2]!, question, down: down[0]!, switched, waits: waits[0]!, runs: started[0]! } };
};
