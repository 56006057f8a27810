/**
 * Where Codex keeps configuration and sessions. One CODEX_HOME per credential and agent; `sessions/` in it is a link to the
 * agent's own folder, so that `exec resume` finds a session after a change of credential (tried: the file there is enough). With
 * the login of the host's user it is the user's own, as it is.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';
import type { AdapterHost } from './adapter.ts';
import { placeLogin } from './codex-login.ts';
import { linkTo } from './link-to.ts';
import { agentDir, loginDir, makeDir, safeName } from './places.ts';

type Claim = Pick<ClaimedWork, 'agent' | 'credential' | 'attempt'>;

const usersOwn = ({ agent }: Claim, host: AdapterHost): string =>
  agent.env.CODEX_HOME ?? join(agent.env.HOME ?? host.env.HOME ?? '/', '.codex');

export const hasOwnHome = ({ credential }: Pick<ClaimedWork, 'credential'>): boolean =>
  credential !== null && credential.kind !== 'host_login';

export const codexHomeOf = (claim: Claim, host: AdapterHost): string =>
  hasOwnHome(claim) ? join(loginDir(host.home, claim.credential!.id, claim.agent.id), 'codex') : usersOwn(claim, host);

/** Makes the home of a lent credential; that of a person is not touched. */
export const layCodexHome = async (claim: Claim, host: AdapterHost): Promise<string> => {
  const home = codexHomeOf(claim, host);
  if (!hasOwnHome(claim)) return home;
  const sessions = join(agentDir(host.home, claim.agent.id), 'codex-sessions');
  await makeDir(sessions, host);
  await makeDir(home, host);
  await linkTo(sessions, join(home, 'sessions'));
  await placeLogin(home, claim, host);
  return home;
};

/** The CLI takes a profile by name, from its home alone: NAME.config.toml. */
const profileName = ({ attempt }: Claim): string => `drover-${safeName(attempt)}`;
const profileFile = (claim: Claim, host: AdapterHost): string =>
  join(codexHomeOf(claim, host), `${profileName(claim)}.config.toml`);

/** TOML's basic string is JSON's, but for DEL, which it wants escaped. */
export const toml = (text: string): string => JSON.stringify(text.toWellFormed()).replaceAll('\x7f', '\\u007f');

/** Instructions go by a file: they may be longer than an argument may be, and argv falls to a `pkill -f` of the agent's own. */
export const writeProfile = async (claim: Claim, instructions: string, host: AdapterHost): Promise<string> => {
  const path = profileFile(claim, host);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, `developer_instructions = ${toml(instructions)}\n`, { mode: 0o600 });
  host.ownedByAgent(path);
  return profileName(claim);
};

export const removeProfile = (claim: Claim, host: AdapterHost): Promise<void> =>
  rm(profileFile(claim, host), { force: true });
