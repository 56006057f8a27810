/**
 * A coding job of the real Claude Code CLI against the scripted provider. At a random instant the CLI, the runner, the holder,
 * several of them or all with the server are killed, and what did not end well is resumed: in the end the tree is the one of a job
 * that nobody killed, and no tool call whose result was recorded ran a second time. Whom no kill touched ends as if there had been
 * none.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startModelApi } from '../model-api/server.ts';
import { chanceOf } from '../sim/chance.ts';
import { claudeBin, type Installation, install } from '../support/installation.ts';
import type { Part } from './rounds.ts';

const steps = 5;

/** In turn. A holder without its agent is shot, too: that goes on without a parent, and nobody sees its exit. */
const targets: readonly (readonly Part[])[] = [
  ['agents'],
  ['runner'],
  ['holder'],
  ['runner', 'agents'],
  ['holder', 'agents'],
  ['runner', 'holder'],
  ['server', 'runner', 'holder', 'agents'],
];

interface JobReport {
  kills: number;
  /** As what they ended, by what was killed. */
  ended: Record<string, Record<string, number>>;
  /** How many results were recorded at the kill, over all kills. */
  recordedAtKill: Record<string, number>;
  problems: string[];
}

export const killedJobs = async (
  o: { kills: number; seed: number },
  say: (line: string) => void = () => {},
): Promise<JobReport> => {
  const { below } = chanceOf(o.seed);
  const provider = await startModelApi();
  const drover = await install();
  const report: JobReport = { kills: 0, ended: {}, recordedAtKill: {}, problems: [] };
  try {
    const repo = join(drover.home, 'repo');
    mkdirSync(repo);
    const git = (...args: string[]) => execFileSync('git', ['-C', repo, ...args], { encoding: 'utf8' }).trim();
    git('init', '-q', '-b', 'main');
    writeFileSync(join(repo, 'README'), 'a project\n');
    git('add', '.');
    git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'start');
    const own = () => `${git('rev-parse', 'HEAD')} ${git('status', '--porcelain')} ${git('branch', '--list')}`;
    const before = own();
    await drover.api('POST', '/api/subscriptions', { name: 'key', kind: 'anthropic_api_key', token: 'sk-ant-x' });
    await drover.api('POST', '/api/agents', {
      name: 'coder',
      executable: claudeBin,
      model: 'claude-sonnet-4-5',
      workspace: repo,
      allowed_tools: ['Bash'],
      env: { ANTHROPIC_BASE_URL: provider.url },
    });
    const journal = join(drover.home, 'steps');
    const start = async () => {
      rmSync(journal, { force: true });
      const message = `Do the job. [[mode:job steps=${steps} journal=${journal}]]`;
      return (await drover.api('POST', '/api/agents/coder/task', { message, async_mode: true })).body
        .execution_id as string;
    };
    const treeOf = (e: { attempts: { workspace: { ref: string } }[] }) =>
      git('rev-parse', `${e.attempts.at(-1)!.workspace.ref}^{tree}`);
    const whole = await drover.ended(await start());
    if (whole.status !== 'success') throw new Error(`the job alone ended as ${whole.cause}: ${whole.error}`);
    const tree = treeOf(whole);
    const typicalMs = Math.max(500, Date.parse(whole.completed_at) - Date.parse(whole.started_at));

    for (let n = 0; n < o.kills; n++) {
      const shot = targets[n % targets.length]!;
      const name = shot.join(' and ');
      const wrong = (what: string) => report.problems.push(`kill ${n} (${name}): ${what}`);
      const id = await start();
      await drover.until(
        'it runs',
        async () => (await drover.api('GET', `/api/executions/${id}`)).body,
        (e) => e.started_at !== null,
      );
      await new Promise((r) => setTimeout(r, below(typicalMs)));
      for (const part of shot) await kill(drover, part);
      if (shot.includes('server')) await drover.start();
      const killed = await drover.ended(id);
      report.kills++;
      report.ended[name] = { ...report.ended[name], [killed.cause]: (report.ended[name]?.[killed.cause] ?? 0) + 1 };
      const untrue = falseIn(killed, shot);
      if (untrue !== null) wrong(untrue);
      if (killed.status === 'success') {
        if (treeOf(killed) !== tree)
          wrong(`it ended well with another tree: ${git('ls-tree', '--name-only', treeOf(killed))}`);
        report.recordedAtKill.ended = (report.recordedAtKill.ended ?? 0) + 1;
        continue;
      }
      const recorded = await recordedSteps(drover, id);
      report.recordedAtKill[recorded] = (report.recordedAtKill[recorded] ?? 0) + 1;
      const resumed = await drover.api('POST', `/api/executions/${id}/resume`, {});
      if (resumed.status !== 202) {
        wrong(`it cannot be resumed: ${resumed.status} ${JSON.stringify(resumed.body)}`);
        continue;
      }
      const e = await drover.ended(resumed.body.execution_id);
      if (e.status !== 'success') wrong(`resumed it ended as ${e.cause}: ${e.error}`);
      else if (treeOf(e) !== tree) wrong(`its final tree is another: ${git('ls-tree', '--name-only', treeOf(e))}`);
      const ran = existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n').map(Number) : [];
      for (let step = 1; step <= recorded; step++)
        if (ran.filter((s) => s === step).length !== 1)
          wrong(
            `${recorded} results were recorded, and step ${step} ran ${ran.filter((s) => s === step).length} times`,
          );
      if (n % 10 === 9) say(`${n + 1} kills, ${report.problems.length} problems`);
    }
    if (own() !== before) report.problems.push(`the repository's own branch changed: ${before} became ${own()}`);
    return report;
  } finally {
    await drover.end();
    await provider.close();
  }
};

/** Null = the ending says what happened. */
const falseIn = (e: { cause: string }, shot: readonly Part[]): string | null => {
  // Whoever had ended before the shot ended well.
  const possible = ['success'];
  if (shot.includes('holder')) possible.push('unknown');
  else if (shot.includes('agents')) possible.push('killed_unknown');
  return possible.includes(e.cause) ? null : `it is called ${e.cause}`;
};

const kill = async (drover: Installation, part: Part): Promise<void> => {
  if (part === 'server') return drover.killServer();
  for (const pid of drover.pids(part === 'agents' ? 'stream-json' : `/${part}.js`))
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It had ended by itself.
    }
};

/** The highest step whose result stands in the transcript. */
const recordedSteps = async (drover: Installation, id: string): Promise<number> => {
  const { body } = await drover.api('GET', `/api/agents/coder/executions/${id}/log`);
  const results = (body.log as { type?: string }[]).filter((e) => e.type === 'user').map((e) => JSON.stringify(e));
  return Math.max(0, ...results.flatMap((r) => [...r.matchAll(/step-done (\d+)/g)].map((m) => Number(m[1]))));
};
