/**
 * The verbs about what agents log in with: a part of the page of verbs in store.ts, with the same promises. Secrets come and go
 * sealed. What a run shows about its credential is written with its ending, by `settle`; the rest is here.
 */
import type { CredentialRow } from '../contract/credential.ts';
import type { FaultKind } from '../contract/credential-states.ts';
import type { Refusal } from '../contract/errors.ts';
import type { LoginView } from '../contract/login-view.ts';
import type { NewOperatorItem } from '../contract/operator.ts';
import type { ClaimLimits } from './store.ts';

export interface CredentialEvent {
  id: number;
  at: number;
  credential_id: string;
  agent_id: string | null;
  agent_name: string;
  execution_id: string;
  state: string;
  until: number | null;
  cause: string;
  evidence: string;
  /** What it changed: `state`, or why nothing (`agent_blamed`, `older_secret`, `older_evidence`). Null: of an older version. */
  effect: string | null;
}

export interface CredentialSwitch {
  id: number;
  at: number;
  agent_name: string;
  execution_id: string;
  from_id: string;
  to_id: string;
  cause: string;
}

/** What an attempt shows about the credential it was lent. Null fields say nothing. */
export interface LoginEvidence {
  failure: {
    kind: FaultKind;
    reset_at: number | null;
    evidence: string;
    /** Whose fault: `agent` leaves the credential as it is, takes back what this agent had put against others, and stops the agent. */
    blames: 'credential' | 'agent';
    /** Raised when the state of the credential changes by it; null = told otherwise. */
    item: NewOperatorItem | null;
  } | null;
  worked: boolean;
  /** The provider throttled or was overloaded. */
  throttled: boolean;
  windows: { window: string; utilization: number | null; resets_at: number | null }[] | null;
}

/** What a person stores; what runs show of it later is left out. */
type PutCredential = Omit<CredentialRow, LaterShown> & Partial<Pick<CredentialRow, LaterShown>>;
type LaterShown = 'owner_id' | 'agent_id' | 'replaced_at' | 'state_at' | 'worked_at' | 'pace' | 'pace_at' | 'headroom';

export interface CredentialWrites {
  /** The same id again keeps its record, unless the secret is another: then a new one begins. */
  put_credential: [{ credential: PutCredential }, CredentialRow | Refusal];
  delete_credential: [{ id: string }, { deleted: boolean }];
  /** The same login, refreshed by its CLI. Not done when the secret is no longer the one of before. */
  reseal_credential: [{ id: string; before: string; after: string }, { done: boolean }];
  /** Which sealed rows do not open with the key of this server; all others do. Tells what changed. */
  note_seals: [{ unopened: string[]; item: NewOperatorItem | null }, { closed: string[]; opened: string[] }];
}

export interface CredentialReads {
  credentials: [Record<string, never>, CredentialRow[]];
  credential_events: [{ limit: number; credential_id?: string }, CredentialEvent[]];
  credential_switches: [{ limit: number; execution_id?: string }, CredentialSwitch[]];
  /** By kind of failure, what is known against it now. */
  credential_faults: [
    { credential_id: string },
    {
      kind: FaultKind;
      state: 'limited' | 'rejected';
      until: number | null;
      at: number;
      cause: string | null;
      evidence: string;
    }[],
  ];
  /** Use of one credential since then, from its attempts. */
  credential_usage: [
    { credential_id: string; since: number },
    { agent_name: string; attempts: number; succeeded: number; failed: number; cost_usd: number | null }[],
  ];
  /** For the judge of an attempt that failed on its login; null when it was lent none, or one that is gone. */
  login_view: [
    { attempt_id: string; kind: FaultKind; cause: string; reset_at: number | null; limits: ClaimLimits },
    LoginView | null,
  ];
  /** What an agent may draw from, first choice first, and what keeps each from being lent. */
  login_options: [
    { agent_id: string; limits: ClaimLimits },
    {
      pool: string | null;
      options: {
        id: string;
        name: string;
        kind: string;
        state: string;
        until: number | null;
        usable: boolean;
        full: boolean;
      }[];
    },
  ];
}
