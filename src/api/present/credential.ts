/** A credential as its body on the wire: state, room and evidence; of its secret only what names it, never a value. */
import { z } from 'zod';
import { CredentialKind, type CredentialRow, CredentialState } from '../../contract/credential.ts';
import { parseEnvLines } from '../../credentials/lend.ts';
import { openedOrNull } from '../../credentials/seal.ts';
import { type ApiDeps, iso, isoOrNull } from '../route.ts';

const Headroom = z.object({
  at: z.string(),
  windows: z.array(
    z.object({ window: z.string(), utilization: z.number().nullable(), resets_at: z.string().nullable() }),
  ),
});
export const CredentialBody = z.object({
  id: z.string(),
  name: z.string(),
  kind: CredentialKind,
  state: CredentialState,
  /** `limited`: the reset. `rejected`: when a run may probe it; null = only a new secret brings it back. */
  until: z.string().nullable(),
  last_evidence: z.string().nullable(),
  last_used_at: z.string().nullable(),
  worked_at: z.string().nullable(),
  max_parallel: z.number().nullable(),
  /** Runs at once while the provider throttles it; null = no bound by that. */
  pace: z.number().nullable(),
  headroom: Headroom.nullable(),
  pool: z.string().nullable(),
  /** Kind `env`: the names it carries. */
  names: z.array(z.string()).optional(),
  running: z.number(),
  agents: z.array(z.string()),
  created_at: z.string(),
  replaced_at: z.string().nullable(),
});

export const namesIn = (deps: ApiDeps, c: CredentialRow): string[] =>
  c.sealed === null ? [] : Object.keys(parseEnvLines(openedOrNull(deps.sealer, c.id, c.sealed) ?? ''));

export const presentCredentials = async (
  deps: ApiDeps,
  rows: readonly CredentialRow[],
): Promise<z.infer<typeof CredentialBody>[]> => {
  const agents = await deps.store.read('agents', {});
  const { credentials } = await deps.store.read('occupancy', { limits: deps.claimLimits() });
  return rows.map((c) => ({
    id: c.id,
    name: c.name,
    kind: c.kind,
    state: c.state,
    until: isoOrNull(c.until),
    last_evidence: c.last_evidence,
    last_used_at: isoOrNull(c.last_used_at),
    worked_at: isoOrNull(c.worked_at),
    max_parallel: c.max_parallel,
    pace: c.pace === null ? null : Math.floor(c.pace),
    headroom:
      c.headroom === null
        ? null
        : {
            at: iso(c.headroom.at),
            windows: c.headroom.windows.map((w) => ({ ...w, resets_at: isoOrNull(w.resets_at) })),
          },
    pool: c.pool,
    ...(c.kind === 'env' && c.sealed !== null && { names: namesIn(deps, c) }),
    running: credentials.find((u) => u.credential_id === c.id)?.running ?? 0,
    agents: agents.filter((a) => a.credential_id === c.id || a.id === c.agent_id).map((a) => a.name),
    created_at: iso(c.created_at),
    replaced_at: isoOrNull(c.replaced_at),
  }));
};
