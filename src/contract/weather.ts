/**
 * Weather (R40): what fails for everybody at once because a provider, or the way to it, is in trouble. Failures of two or more
 * agents on one provider within a window, with no success between them, are one incident:
 *
 *   open ─a success, or a probe whose model speaks→ reopening ─a minute without a failure→ closed
 *     ↑ └─nothing wanted to go there for half an hour────────────────────────────────────────↑
 *     └──a run that was started in it fails the same way─┘
 *
 * While it is open nothing is started on that provider but one probe at a time, at growing distance; the probe is the next queued
 * run. While it is reopening starts are paced. What runs is never touched. Steady ms: `opened_steady closed_steady next_at`.
 */
import { z } from 'zod';
import type { Cause } from './causes.ts';

export const WeatherFamily = z.enum(['overload', 'provider', 'network']);
export type WeatherFamily = z.infer<typeof WeatherFamily>;

/**
 * The only causes that are weather. Not here on purpose: `rate_limited` and `usage_limit` (they are of one credential),
 * `agent_unreachable` (of one agent), and everything that a host, a signal, a person or Drover itself did.
 */
export const weatherFamilies: Partial<Record<Cause, WeatherFamily>> = {
  overloaded: 'overload',
  api_server_error: 'provider',
  malformed_response: 'network',
  network_failure: 'network',
  tls_failure: 'network',
  edge_blocked: 'network',
};

export const weatherLimits = {
  /** The CLI tries a 529 again for up to three minutes before it gives up, so two agents fail minutes apart. */
  windowMs: 10 * 60_000,
  agents: 2,
  /** Distance of probes: 30 s, doubled by each that fails, up to 10 min; spread to half of it by a hash. */
  firstProbeMs: 30_000,
  longestProbeMs: 600_000,
  /** A probe that ended for a reason of its own says nothing: the next one goes soon. */
  silentProbeMs: 5_000,
  /** Starts while reopening are this far apart (spread to half of it): a fleet of 8 is full again within half a minute. */
  paceMs: 3_000,
  reopeningMs: 60_000,
  /** Nobody has wanted to go there for so long: the next run finds out by itself. */
  forgottenMs: 30 * 60_000,
  /** So often one execution may be the probe that fails before its ending counts: about a night of one agent alone. */
  parks: 20,
} as const;

export const IncidentState = z.enum(['open', 'reopening', 'closed']);
export type IncidentState = z.infer<typeof IncidentState>;

export interface IncidentRow {
  id: string;
  /** `anthropic`, `openai`, `google`, `bedrock`, `vertex`, or the origin of another endpoint. */
  provider: string;
  family: WeatherFamily;
  cause: Cause;
  state: IncidentState;
  opened_at: number;
  reopening_at: number | null;
  closed_at: number | null;
  closed_why: string | null;
  evidence: string;
  /** Counted from rows. */
  failures: number;
  agents: string[];
  probes: number;
  last_failure_at: number | null;
  /** The attempt that is the probe now. */
  probe: { attempt_id: string; execution_id: string } | null;
  /** When the next probe (or the next paced start) may go, wall clock; null when closed or while a probe is under way. */
  next_at: number | null;
}

/** What agents of the installation go to, with what holds it up. */
export interface ProviderRow {
  provider: string;
  agents: string[];
  paused_at: number | null;
  paused_by: string | null;
  incident_id: string | null;
  running: number;
}
