/**
 * A whole runner in this process, with the real holder, launcher and workspaces, against a server that the test owns. `end`
 * stops everything that was started and fails when something of it is left.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Facts } from '../../src/contract/facts.ts';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import { type Runner, type RunnerOptions, startRunner } from '../../src/runner/main.ts';
import { claimedWork } from './claimed-work.ts';
import { heldBench, kernelWith, until } from './held.ts';
import { type RunnerServer, startRunnerServer } from './runner-server.ts';

const claudeBin = resolve('node_modules/.bin/claude');

export interface RunnerBench {
  home: string;
  workspace: string;
  server: RunnerServer;
  runner: Runner;
  /** Another runner on the same home. */
  another(over?: Partial<RunnerOptions>): Promise<Runner>;
  claim(over?: Parameters<typeof claimedWork>[0]): ClaimedWork;
  /** Gives the claim and waits for its facts. */
  run(over?: Parameters<typeof claimedWork>[0]): Promise<{ claim: ClaimedWork; facts: Facts }>;
  facts(claim: ClaimedWork): Promise<Facts>;
  end(): Promise<void>;
}

export const runnerBench = async (
  options: Partial<RunnerOptions> & { noRunner?: boolean } = {},
): Promise<RunnerBench> => {
  const home = mkdtempSync(join(tmpdir(), 'runner-'));
  const workspace = join(home, 'a workspace');
  mkdirSync(workspace);
  const server = await startRunnerServer();
  const runners: Runner[] = [];
  const { noRunner, ...over } = options;
  const start = async (more: Partial<RunnerOptions> = {}) => {
    const runner = await startRunner({
      kernel: kernelWith(),
      home,
      serverUrl: server.url,
      token: () => 'runner-key',
      slots: 16,
      agentUser: null,
      retentionDays: 30,
      claudeBin,
      packaged: Object.fromEntries(['codex', 'gemini'].map((name) => [name, resolve('node_modules/.bin', name)])),
      env: { PATH: process.env.PATH, HOME: home, ANTHROPIC_API_KEY: 'stale-key-of-the-server' },
      stopStepMs: 300,
      ...over,
      ...more,
    });
    runners.push(runner);
    return runner;
  };
  const bench: RunnerBench = {
    home,
    workspace,
    server,
    runner: noRunner ? { stop: async () => {}, retired: Promise.resolve() } : await start(),
    another: start,
    claim: (asked = {}) => claimedWork({ ...asked, agent: { workspace, ...asked.agent } }),
    facts: (claim) => server.until(() => server.facts(claim.attempt)[0]),
    async run(asked) {
      const claim = bench.claim(asked);
      server.give(claim);
      return { claim, facts: await bench.facts(claim) };
    },
    async end() {
      for (const runner of runners) await runner.stop();
      await server.close();
      // Ends what still runs under the holder, checks that nothing is left, and removes the home.
      const rest = await heldBench({ home });
      await rest.end();
      rmSync(home, { recursive: true, force: true });
    },
  };
  return bench;
};

export { until };
