/**
 * What one run cost, and how sure that is (R41). Claude Code reports its session's cumulative total, also over --resume: the
 * difference to the total before is this run's. A login by subscription makes it notional: tokens at list price, not billed. A
 * run that was killed before its CLI said anything is summed from its stream, and marked so.
 */
import type { CredentialKind } from '../contract/credential.ts';
import type { CostKind } from '../contract/execution.ts';
import type { StreamFacts } from '../contract/facts.ts';
import { estimatedCost } from './price-table.ts';

const kinds: Record<CredentialKind, CostKind> = {
  anthropic_api_key: 'billed',
  openai_api_key: 'billed',
  gemini_api_key: 'billed',
  claude_oauth: 'notional',
  codex_login: 'notional',
  env: 'unknown',
  host_login: 'unknown',
};

export const runCost = (
  stream: StreamFacts,
  before: number | null,
  credential: CredentialKind | null,
): { cost_usd: number | null; cost_kind: CostKind | null; cost_estimated: boolean } => {
  const total = stream.cost_usd ?? estimatedCost(stream);
  if (total === null) return { cost_usd: null, cost_kind: null, cost_estimated: false };
  const estimated = stream.cost_usd === null;
  // A total below the one before means a new session: it counts whole.
  const cost = !estimated && before !== null && total >= before ? total - before : total;
  const kind = credential === null ? 'unknown' : kinds[credential];
  return {
    cost_usd: Math.round(cost * 1e9) / 1e9,
    cost_kind: stream.api_key_source === 'ANTHROPIC_API_KEY' ? 'billed' : kind,
    cost_estimated: estimated || stream.cost_estimated,
  };
};
