/**
 * The child's whole environment (R29): an allow-list from the host, the agent's own names and values, what the adapter
 * needs, and the lent credential last. A login in the server's environment never reaches an agent by chance.
 */
import { credentialEnvNames } from '../../contract/agent.ts';
import type { ClaimedWork } from '../../contract/runner-protocol.ts';

const passed = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'TMPDIR',
  'LANG',
  'LANGUAGE',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
];

export const childEnvironment = (
  claim: Pick<ClaimedWork, 'agent' | 'credential'> & Partial<Pick<ClaimedWork, 'secrets'>>,
  host: Readonly<Record<string, string | undefined>>,
  adapter: Record<string, string> = {},
): Record<string, string> => {
  const env: Record<string, string> = { PATH: '/usr/local/bin:/usr/bin:/bin' };
  for (const [name, value] of Object.entries(host))
    if (value !== undefined && (passed.includes(name) || name.startsWith('LC_'))) env[name] = value;
  // Reset times that a CLI prints are then UTC, and a run reads the same on every host. An agent may say otherwise.
  env.TZ = 'UTC';
  // The API refuses these names already; a row from an older version must not bring one in.
  for (const [name, value] of Object.entries(claim.agent.env))
    if (!(credentialEnvNames as readonly string[]).includes(name)) env[name] = value;
  // A login never comes this way: the lent one is the only one.
  for (const [name, value] of Object.entries(claim.secrets ?? {}))
    if (!(credentialEnvNames as readonly string[]).includes(name)) env[name] = value;
  return { ...env, ...adapter, ...claim.credential?.env };
};
