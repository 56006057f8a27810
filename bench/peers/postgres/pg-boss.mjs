// pg-boss as its documents use it: one queue, as many workers as the fleet may run, groups (the agent) with a limit over the database.
// It has no call that waits for another job; a handler that needs an answer looks at the job it has sent until that has ended.
import { setTimeout as pause } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import { counter, measure, scenarios } from '../scenarios.ts';

const [url, index] = process.argv.slice(2);
const scenario = scenarios[Number(index)];
const count = counter(scenario);
const queue = 'fleet';

const boss = new PgBoss(url);
boss.on('error', (error) => process.stderr.write(`${error}\n`));
await boss.start();
await boss.createQueue(queue, { retryLimit: 0 });

const send = (tree) => boss.send(queue, tree, { group: { id: tree.agent } });
const ended = async (id) => {
  for (;;) {
    const [job] = await boss.findJobs(queue, { id });
    if (job && ['completed', 'failed', 'cancelled'].includes(job.state)) return job;
    await pause(100);
  }
};
await boss.work(
  queue,
  { localConcurrency: scenario.fleet, groupConcurrency: scenario.agent, pollingIntervalSeconds: 0.5 },
  async ([{ data: tree }]) => {
    count.enter(tree.agent);
    await count.compute();
    count.leave(tree.agent);
    if (tree.calls.length > 0) {
      const ids = await Promise.all(tree.calls.map(send));
      await Promise.all(ids.map(ended));
      count.enter(tree.agent);
      await count.compute();
      count.leave(tree.agent);
    }
    return 'said';
  },
);
const result = await measure(scenario, count.seen, async (done) => {
  const ids = [];
  for (const tree of scenario.trees) ids.push(await send(tree));
  await Promise.all(ids.map((id) => ended(id).then((job) => job.state === 'completed' && done())));
});
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(0);
