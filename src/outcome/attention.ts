/** What a person should look at even when the run went well (R30, R31): computed with the verdict, shown on the row. */
import type { Cause } from '../contract/causes.ts';
import type { CredentialKind } from '../contract/credential.ts';
import type { Facts } from '../contract/facts.ts';
import type { Verdict } from '../contract/verdict.ts';
import { memoryPressure, toolWasKilled } from './memory-evidence.ts';

export const attentionOf = (
  facts: Facts,
  cause: Cause,
  { permissionMode, lent }: { permissionMode: string | null; lent: CredentialKind | null },
): Verdict['attention'] => {
  const out: Verdict['attention'] = [];
  if (facts.stream.denied_tools.length > 0) out.push('blocked_tools');
  const reported = facts.stream.permission_mode;
  // Only a CLI that Drover started itself was told a mode.
  if (facts.stream.cli === 'claude' && permissionMode !== null && reported !== null && reported !== permissionMode)
    out.push('permission_mode_differs');
  if (loginDiffers(facts, lent)) out.push('login_differs');
  if (toolWasKilled(facts, cause === 'oom_killed')) out.push('tool_oom');
  if (slowedByMemory(cause, facts)) out.push('memory_pressure');
  if ((facts.stragglers ?? 0) > 0) out.push('stragglers');
  if (facts.workspace !== null && facts.workspace.keep_error !== null) out.push('work_not_kept');
  return out;
};

/**
 * What Claude Code says it logged in with against what it was lent: an API key shows by its name, a subscription as `none`. Another
 * one came from somewhere else, and whatever followed says nothing of the credential that was lent.
 */
const loginDiffers = ({ stream }: Facts, lent: CredentialKind | null): boolean => {
  const said = stream.api_key_source;
  if (stream.cli !== 'claude' || said === null) return false;
  if (lent === 'anthropic_api_key') return said !== 'ANTHROPIC_API_KEY';
  return lent === 'claude_oauth' && said !== 'none';
};

/** Only where it explains an ending: a run that succeeded at its limit was slow, and nothing more. */
export const slowedByMemory = (cause: Cause, facts: Facts): boolean =>
  (cause === 'timed_out' || cause === 'stalled') && memoryPressure(facts) !== null;
