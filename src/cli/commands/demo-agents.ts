/**
 * The five agents of the demo: what each is made of and what it must end as. They are agents of the `claude` adapter like
 * any other, with the shim as their program, so that all of Drover is at work and nothing is staged but the CLI.
 */

import type { Client } from '../../client/client.ts';
import { ApiError } from '../../client/request.ts';
import type { Cause } from '../../contract/causes.ts';
import { lendsNothing } from '../../contract/credential.ts';
import { demoMemory, type Scene, sceneEnv, scenes } from '../../demo/scenes.ts';
import { CliFailure } from '../failure.ts';

export interface Act {
  scene: Scene;
  agent: string;
  /** What really happens, for the table. */
  really: string;
  /** What an honest Drover may call it; the first is the full proof, the others are what a poorer host can know. */
  causes: readonly Cause[];
}

const act = (scene: Scene, really: string, ...causes: Cause[]): Act => ({
  scene,
  agent: `demo-${scene}`,
  really,
  causes,
});

const byScene: Record<Scene, Act> = {
  success: act('success', 'edits a file and finishes', 'success'),
  // Without a cgroup the limit is held by watching RSS: Drover's own stop, which is another cause and as true.
  oom: act('oom', `takes memory past its limit of ${demoMemory}`, 'oom_killed', 'memory_limit'),
  killed: act('killed', 'a stranger sends it SIGKILL', 'killed_unknown'),
  login: act('login', 'the model API rejects its login (401)', 'auth_failed'),
  limit: act('limit', 'the plan is used up until a reset (429)', 'usage_limit'),
};
export const acts: readonly Act[] = scenes.map((s) => byScene[s]);

/** No credential carries this tag: nothing real is lent to a shim, and nothing real is blamed for what it plays. */
const demoPool = lendsNothing;

/** Makes the agent, or takes the one of an earlier demo. An agent of that name that is not the demo's is left alone. */
export const ensureAgent = async (api: Client, { agent, scene }: Act, shim: string): Promise<void> => {
  const there = await find(api, agent);
  if (there !== null && there.executable === shim) {
    await api.startAgent(agent);
    return;
  }
  if (there !== null) {
    refuseForeign(agent, there.executable);
    await api.deleteAgent(agent);
  }
  await api.createAgent({
    name: agent,
    adapter: 'claude',
    type: 'demo',
    executable: shim,
    model: 'drover-demo-shim',
    env: { [sceneEnv]: scene },
    resources: { memory: demoMemory },
    max_parallel_tasks: 1,
    timeout_seconds: 120,
    workspace_mode: 'shared',
    pool: demoPool,
  });
};

/** True when there was one to remove. */
export const removeAgent = async (api: Client, { agent }: Act): Promise<boolean> => {
  const there = await find(api, agent);
  if (there === null) return false;
  refuseForeign(agent, there.executable);
  await api.stopAgent(agent, true);
  await api.deleteAgent(agent);
  return true;
};

const find = async (api: Client, name: string): Promise<{ executable: unknown } | null> => {
  try {
    const body = await api.agent(name);
    return { executable: body.executable ?? null };
  } catch (e) {
    if (e instanceof ApiError && e.status === 404) return null;
    throw e;
  }
};

const refuseForeign = (agent: string, executable: unknown): void => {
  if (typeof executable === 'string' && executable.endsWith('/bin/demo-claude')) return;
  throw new CliFailure('refused', `There is an agent ${agent} that is not the demo's; it is left alone.`, [
    'Rename or remove it, then try again.',
  ]);
};
