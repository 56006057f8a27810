/**
 * The reads about executions that were or are: rows and lists, their attempts, facts, verdicts and logs. A part of the page of
 * verbs in store.ts, with the same promises. Lists go by keyset, and texts are cut in the store.
 */
import type { AgentRow } from '../contract/agent.ts';
import type { CredentialRow } from '../contract/credential.ts';
import type {
  AttemptRow,
  ExecutionKind,
  ExecutionRow,
  ExecutionStatus,
  ExecutionTexts,
} from '../contract/execution.ts';
import type { Facts } from '../contract/facts.ts';
import type { ProofOfLife } from '../contract/runner-protocol.ts';
import type { StopReason } from '../contract/stop-reasons.ts';
import type { Decision, Verdict } from '../contract/verdict.ts';

export interface ListExecutions {
  status?: ExecutionStatus[];
  agent_id?: string;
  cause?: string;
  triggered_by?: string;
  parent_execution_id?: string;
  kind?: ExecutionKind;
  session_id?: string;
  /** Texts are cut after this many characters (in the store, so that long ones never travel); left out = whole. */
  text_chars?: number;
  /** Keyset: rows older than this id; with `oldest_first`, newer ones. */
  before?: string;
  oldest_first?: boolean;
  limit: number;
}

/** Part of a message, whatever its case, or a whole id. */
export type SearchExecutions = Omit<ListExecutions, 'text_chars' | 'oldest_first'> & {
  search: string;
  text_chars: number;
};

export interface Judged {
  rows: {
    execution_id: string;
    agent_name: string;
    attempt_id: string;
    number: number;
    ended_at: number | null;
    verdict: Verdict;
    facts: unknown;
  }[];
  /** Where the next page begins; null = this was the last. */
  next: { at: number; id: string } | null;
}

export interface HistoryReads {
  execution: [{ id: string }, (ExecutionRow & ExecutionTexts) | null];
  executions: [ListExecutions, ExecutionRow[]];
  /** The same with texts, for bodies that show them; at most 200. */
  executions_with_texts: [ListExecutions, (ExecutionRow & ExecutionTexts)[]];
  /** One stretch of the history: it may hold few hits, or none, and still have a `next`. */
  search_executions: [SearchExecutions, { rows: (ExecutionRow & ExecutionTexts)[]; next: string | null }];
  attempts: [{ execution_id: string }, AttemptRow[]];
  facts: [{ attempt_id: string }, Facts | null];
  /** The attempt with what `flow/finish.ts` needs to judge: nothing else reads tokens. */
  attempt_for_finish: [
    { attempt_id: string },
    {
      attempt: AttemptRow;
      execution: ExecutionRow;
      agent: AgentRow;
      credential: CredentialRow | null;
      session_cost_before: number | null;
      /** What was decided after its earlier attempts, oldest first. */
      decided: Decision[];
    } | null,
  ];
  /** Stored facts with the verdict they were given, of executions that ended since then, oldest first; pages by execution. */
  judged: [{ since: number; after: { at: number; id: string } | null; limit: number }, Judged];
  log: [
    { execution_id: string; attempt_id: string | null; after_seq: number; limit: number },
    {
      entries: { attempt: string; seq: number; entry: string }[];
      has_log: boolean;
      /** Cut by the limit or by its size (a line may have megabytes): go on after the last entry. */
      more: boolean;
    },
  ];
  stored_seq: [{ attempt_id: string }, number];
  /** Whose attempt it is, when the token is its own (of an ended attempt too: its last events may come late); else null. */
  attempt_owner: [{ attempt_id: string; token: string }, { execution_id: string; runner_id: string } | null];
  /** Attempts whose lease has run out, with their proof: the reaper looks at the host. */
  expired_leases: [
    { steady: number },
    { attempt_id: string; execution_id: string; host: string | null; proof: ProofOfLife | null }[],
  ];
  attempts_to_stop: [{ runner_id: string }, { attempt_id: string; reason: StopReason }[]];
}
