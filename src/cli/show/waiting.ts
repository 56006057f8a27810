/** Why a queued execution is not running yet, in words: one sentence per reason of the contract, none left out. */
import type { WaitBody } from '../../client/wire.ts';
import type { WaitReason } from '../../contract/limits.ts';
import { oneLine } from '../terminal.ts';

const words: Record<WaitReason, string> = {
  fleet_paused: 'the fleet is paused',
  agent_stopped: 'its agent is stopped',
  provider_paused: 'its provider is paused',
  budget_spent: 'the spending budget of its agent is used up',
  not_before: 'it is to start later',
  credentials_exhausted: 'no credential it may use is good',
  session_busy: 'its chat session has a turn running',
  no_runner: 'no runner is there',
  memory: 'the host has less memory free than its floor',
  disk: 'the host has less disk free than its floor',
  live_bound: 'its agent has too many processes alive',
  agent_cap: 'its agent runs as many as it may',
  credential_cap: 'its credential runs as many as it may',
  fan_out_cap: 'its fan-out runs as many as it may',
  fleet_cap: 'the fleet runs as many as it may',
  runner_room: 'the runner has no place free',
  turn: 'it goes next',
};

export const waitingFor = (wait: WaitBody): string => {
  const place = wait.position > 0 ? `, place ${wait.position}` : '';
  const lanes = wait.lanes_ahead > 0 ? `, ${wait.lanes_ahead} lanes ahead` : '';
  const until = wait.until === null ? '' : `, until ${wait.until}`;
  const about = wait.about == null ? '' : `: ${oneLine(wait.about, 300)}`;
  return `${words[wait.reason]}${about} (${wait.reason}${place}${lanes}${until})`;
};
