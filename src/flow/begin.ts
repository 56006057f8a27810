/**
 * Queue → attempt: hands claims to a runner, with the credential lent for this one spawn; the second gate before the spawn
 * (`begin`); and the leases that keep an attempt this runner's. The policy of the claim is in `store/claim/`, inside the
 * transaction; nothing here chooses.
 */
import { type AgentRow, inForce } from '../contract/agent.ts';
import type { LentCredential } from '../contract/credential.ts';
import { Fault } from '../contract/errors.ts';
import { emptyFacts, type Facts } from '../contract/facts.ts';
import { limits } from '../contract/limits.ts';
import type {
  BeginAnswer,
  ClaimedAgent,
  ClaimedWork,
  ClaimRequest,
  GoodbyeRequest,
  RenewAnswer,
  RenewRequest,
} from '../contract/runner-protocol.ts';
import { lend } from '../credentials/lend.ts';
import { secretToken } from '../kernel/ids.ts';
import { commit } from '../record/commit.ts';
import type { ClaimRow } from '../store/store.ts';
import { checkSeals } from './check-seals.ts';
import type { Deps } from './deps.ts';
import { finish } from './finish.ts';

interface Claimed {
  claims: ClaimedWork[];
  /** Steady ms at which something becomes claimable by itself. */
  nextWake: number | null;
}

export const claimFor = async (deps: Deps, runnerId: string, request: ClaimRequest): Promise<Claimed> => {
  const { host, boot_id, version, isolation, cgroup, max } = request;
  const now = deps.kernel.clock.now();
  const result = await commit(deps, 'claim_next', {
    runner_id: runnerId,
    room: request.room,
    about: { host, boot_id, version, isolation, cgroup },
    max,
    lease_ms: limits.leaseMs,
    fresh: Array.from({ length: max }, () => ({
      attempt_id: deps.kernel.ids.next(now),
      token: secretToken(deps.kernel.random),
    })),
    limits: deps.claimLimits(),
  });
  const claims: ClaimedWork[] = [];
  for (const c of result.claims) {
    const credential = lent(deps, c);
    if ('prepare_error' in credential) {
      await endUnlent(deps, c, credential);
      await checkSeals(deps);
    } else claims.push(claimedWork(c, credential));
  }
  return { claims, nextWake: result.next_wake };
};

/** A runner says what it knows of: claims that were lost on their way to it are queued again, without waiting for their lease. */
export const giveBack = async (
  deps: Deps,
  runnerId: string,
  { host, holds }: GoodbyeRequest,
): Promise<{ given_back: number }> => {
  const claims = { not_in: holds };
  const { given_back } = await commit(deps, 'give_back', { runner_id: runnerId, host, claims });
  if (given_back.length > 0)
    deps.kernel.log.warn('claims that a runner never began are queued again', { runner: runnerId, host, given_back });
  return { given_back: given_back.length };
};

/** Claims that were made for a poll whose client had gone meanwhile. */
export const takeBack = async (
  deps: Deps,
  runnerId: string,
  { host }: ClaimRequest,
  claims: readonly ClaimedWork[],
): Promise<void> => {
  const named = { in: claims.map((c) => c.attempt) };
  await commit(deps, 'give_back', { runner_id: runnerId, host, claims: named });
};

export const begin = (deps: Deps, attemptId: string, token: string): Promise<BeginAnswer> =>
  commit(deps, 'begin', { attempt_id: attemptId, token, lease_ms: limits.leaseMs });

export const renew = async (deps: Deps, runnerId: string, request: RenewRequest): Promise<RenewAnswer> => ({
  results: await commit(deps, 'renew', {
    runner_id: runnerId,
    room: request.room,
    lease_ms: limits.leaseMs,
    attempts: request.attempts,
  }),
  lease_ms: limits.leaseMs,
});

type PrepareError = { prepare_error: NonNullable<Facts['prepare_error']> };

interface Lent {
  lent: LentCredential | null;
  secrets: Record<string, string>;
}

const lent = (deps: Deps, { credential, secrets }: ClaimRow): Lent | PrepareError => {
  try {
    const besides = secrets.map((s) => lend(s, deps.sealer)?.env ?? {});
    return { lent: lend(credential, deps.sealer), secrets: Object.assign({}, ...besides) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    deps.kernel.log.error('a credential cannot be lent', { credential: credential?.name, error });
    return { prepare_error: { code: 'login_unopened', message: error.message } };
  }
};

/** What is claimed already must end: kept back, it would be claimed again and again. The others of the claim go on. */
const endUnlent = (deps: Deps, c: ClaimRow, error: PrepareError) =>
  finish(deps, c.attempt_id, { token: c.token, facts: { ...emptyFacts(c.agent.adapter), ...error } });

const claimedWork = (c: ClaimRow, { lent: credential, secrets }: Lent): ClaimedWork => ({
  execution_id: c.execution.id,
  attempt: c.attempt_id,
  number: c.execution.attempt,
  token: c.token,
  kind: c.execution.kind,
  agent: claimedAgent(c.agent),
  message: c.message,
  options: c.options,
  cli_session_id: c.execution.cli_session_id,
  session_cost_before: c.session_cost_before,
  credential,
  secrets,
  timeout_s: c.execution.timeout_s,
  depth: c.execution.depth,
  lease_ms: limits.leaseMs,
  resume_ref: c.resume_ref,
});

const claimedAgent = (a: AgentRow): ClaimedAgent => ({
  id: a.id,
  name: a.name,
  adapter: a.adapter,
  model: a.model,
  workspace: a.workspace,
  executable: a.executable,
  command: a.command,
  base_url: a.base_url,
  env: a.env,
  memory_bytes: a.memory_bytes,
  cpu: a.cpu,
  custom_instructions: a.custom_instructions,
  permission_mode: inForce(a).permission_mode,
  allowed_tools: a.allowed_tools,
  workspace_mode: a.workspace_mode,
  max_parallel_tasks: inForce(a).max_parallel_tasks,
  stall_s: a.stall_s,
});
