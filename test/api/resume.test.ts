/** What has ended goes on: in its session, from its kept tree, as work of its own; and what it changed can be read. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClaimedWork } from '../../src/contract/runner-protocol.ts';
import { type Fleet, openFleet } from '../support/fleet.ts';
import { verifies } from '../support/verifies.ts';

let fleet: Fleet;
beforeEach(async () => {
  fleet = await openFleet();
  await fleet.agent('coder');
});
afterEach(() => fleet.end());

const kept = (ref: string) => ({
  mode: 'worktree',
  path: '/w',
  ref,
  commit: 'c0ffee',
  files_changed: 1,
  insertions: 2,
  deletions: 0,
  keep_error: null,
  diff: { text: '+two\n+lines\n', truncated: false },
});

/** A task whose process was killed: with a session of its CLI, or before it had one. */
const killed = async (cliSession: string | null): Promise<ClaimedWork> => {
  await fleet.api('POST', '/api/agents/coder/task', { message: 'write it', async_mode: true });
  const [work] = await fleet.runner.claim(1);
  await fleet.runner.begin(work!);
  await fleet.runner.finish(work!, {
    exit_code: null,
    signal: 'SIGKILL',
    workspace: kept(`refs/drover/${work!.execution_id}/${work!.attempt}`),
    stream: { session_id: cliSession, response: null },
  });
  return work!;
};

describe('POST /api/executions/ID/resume', () => {
  it(
    verifies('R31')('goes on in the session of the CLI and from the kept tree; the old row stays as it ended'),
    async () => {
      const old = await killed('cli-1');
      const answer = await fleet.api(
        'POST',
        `/api/executions/${old.execution_id}/resume`,
        {},
        { 'idempotency-key': 'k' },
      );
      expect(answer.status).toBe(202);
      expect(answer.body).toMatchObject({ resumes: old.execution_id, agent_name: 'coder' });
      const again = await fleet.api(
        'POST',
        `/api/executions/${old.execution_id}/resume`,
        {},
        { 'idempotency-key': 'k' },
      );
      expect(again.body.execution_id).toBe(answer.body.execution_id);
      const claims = await fleet.runner.claim();
      expect(claims).toHaveLength(1);
      expect(claims[0]).toMatchObject({
        execution_id: answer.body.execution_id,
        cli_session_id: 'cli-1',
        resume_ref: `refs/drover/${old.execution_id}/${old.attempt}`,
        message: expect.stringContaining('go on where you stopped'),
      });
      expect(await fleet.row(old.execution_id)).toMatchObject({ status: 'failed', cause: 'killed_unknown' });
    },
  );

  it('gives the task again to one that had no session yet, on the tree that was kept', async () => {
    const old = await killed(null);
    await fleet.api('POST', `/api/executions/${old.execution_id}/resume`);
    expect((await fleet.runner.claim())[0]).toMatchObject({
      message: 'write it',
      cli_session_id: null,
      resume_ref: `refs/drover/${old.execution_id}/${old.attempt}`,
    });
  });

  it(verifies('R31')('of one whose tree could not be kept asks for the tree that it left'), async () => {
    await fleet.api('POST', '/api/agents/coder/task', { message: 'write it', async_mode: true });
    const [work] = await fleet.runner.claim(1);
    await fleet.runner.begin(work!);
    const workspace = {
      ...kept('x'),
      ref: null,
      commit: null,
      keep_error: 'No space left. The files are still in /w.',
    };
    await fleet.runner.finish(work!, { exit_code: 1, workspace });
    const answer = await fleet.api('POST', `/api/executions/${work!.execution_id}/resume`);
    expect(answer.status).toBe(202);
    const [next] = await fleet.runner.claim();
    expect(next).toMatchObject({ resume_ref: `refs/drover/${work!.execution_id}/left` });
    // A copy outside of git holds its work itself.
    await fleet.runner.begin(next!);
    const copy = { ...kept('x'), mode: 'copy', ref: null, commit: null };
    await fleet.runner.finish(next!, { exit_code: 1, workspace: copy });
    await fleet.api('POST', `/api/executions/${next!.execution_id}/resume`);
    expect((await fleet.runner.claim())[0]).toMatchObject({ resume_ref: `refs/drover/${next!.execution_id}/left` });
  });

  it('is refused while it runs, without anything to go on from, and for what is not there', async () => {
    const refused = async (id: string) => (await fleet.api('POST', `/api/executions/${id}/resume`, {})).body.error;
    await fleet.api('POST', '/api/agents/coder/task', { message: 'x', async_mode: true });
    const [work] = await fleet.runner.claim(1);
    expect(await refused(work!.execution_id)).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('has not ended'),
    });
    await fleet.runner.run(work!);
    expect(await refused(work!.execution_id)).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('left nothing'),
    });
    expect(await refused('nobody')).toMatchObject({ code: 'not_found' });
  });
});

describe('GET /api/executions/ID/diff', () => {
  it(
    verifies('R31')('shows what a killed run had changed by then; the row shows the counts and not the text'),
    async () => {
      const { execution_id } = await killed('cli-1');
      expect((await fleet.api('GET', `/api/executions/${execution_id}/diff`)).body).toMatchObject({
        execution_id,
        diff: '+two\n+lines\n',
        truncated: false,
      });
      const [attempt] = (await fleet.row(execution_id)).attempts;
      expect(attempt.workspace).toMatchObject({ files_changed: 1, commit: 'c0ffee' });
      expect(attempt.workspace.diff).toBeUndefined();
    },
  );

  it('says so when no tree was kept', async () => {
    await fleet.api('POST', '/api/agents/coder/task', { message: 'x', async_mode: true });
    const [work] = await fleet.runner.claim(1);
    await fleet.runner.run(work!);
    const answer = await fleet.api('GET', `/api/executions/${work!.execution_id}/diff`);
    expect(answer.body).toMatchObject({ diff: null, note: expect.stringContaining('No tree was kept') });
  });
});
