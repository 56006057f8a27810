/**
 * What a decision about a login looks at: the credential of an attempt that failed on it, what its agent could draw from besides,
 * and what happened lately on both. Read in one transaction; `version` says whether it still holds when the decision is written.
 */
import type { CredentialKind } from './credential.ts';

export interface LoginOption {
  id: string;
  name: string;
  kind: CredentialKind;
}

export interface LoginView {
  version: string;
  mine: LoginOption & {
    /** It was rejected already when this attempt was started on it: the attempt was its probe. */
    probed: boolean;
    /** Until when this very failure closes it: the provider's reset, the window, the next probe; null = for good. */
    until: number | null;
  };
  pool: string | null;
  /** What else the agent may draw from and that is good now, first choice first. */
  others: LoginOption[];
  /** Where its agent has moved from this credential since the attempt was started, while that is still good. */
  moved_to: LoginOption | null;
  /** Earliest reset among the others that are used up, ms UTC. */
  others_reset: number | null;
  /** Runs may go from one subscription on to another. */
  auto_switch: boolean;
  /** Other credentials on which this agent failed of the same cause within the window. */
  alike: LoginOption[];
  /** Other credentials of the kind that were rejected within minutes, whoever used them, with no run that went well since. */
  alike_in_fleet: LoginOption[];
  /** Another agent succeeded within the window on this credential or on one of `alike`. */
  works_for_others: boolean;
}
