// DBOS Transact as its documents use it: one queue with a global limit and one per partition (the agent); a workflow starts its
// children with DBOS.startWorkflow and waits by getResult. `queued`: children go through the queue as their parents did.
// `direct`: they are started at once, outside it, as a child workflow without a queue name is.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { counter, measure, scenarios } from '../scenarios.ts';

const [url, index, how] = process.argv.slice(2);
const scenario = scenarios[Number(index)];
const count = counter(scenario);
const queueName = 'fleet';

const compute = (name) => DBOS.runStep(count.compute, { name });
const onQueue = (agent) => ({ queueName, enqueueOptions: { queuePartitionKey: agent } });
const work = DBOS.registerWorkflow(
  async (tree) => {
    count.enter(tree.agent);
    await compute('before');
    count.leave(tree.agent);
    if (tree.calls.length === 0) return 'said';
    const handles = [];
    for (const child of tree.calls)
      handles.push(await DBOS.startWorkflow(work, how === 'queued' ? onQueue(child.agent) : {})(child));
    await Promise.all(handles.map((h) => h.getResult()));
    count.enter(tree.agent);
    await compute('after');
    count.leave(tree.agent);
    return 'said';
  },
  { name: 'work' },
);

DBOS.setConfig({ name: 'peers', systemDatabaseUrl: url, logLevel: 'error', systemDatabasePoolSize: 20 });
await DBOS.launch();
// Its quickest: the default looks once a second.
await DBOS.registerQueue(queueName, {
  globalConcurrency: scenario.fleet,
  partitionConcurrency: scenario.agent,
  minPollingIntervalMs: 50,
});
const result = await measure(scenario, count.seen, async (ended) => {
  const handles = [];
  for (const tree of scenario.trees) handles.push(await DBOS.startWorkflow(work, onQueue(tree.agent))(tree));
  await Promise.all(handles.map((h) => h.getResult().then(() => ended())));
});
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(0);
