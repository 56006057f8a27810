/** The verbs about weather: incidents, and a person's pause of a provider. A part of the page of verbs in store.ts. */
import type { Refusal } from '../contract/errors.ts';
import type { IncidentRow, ProviderRow } from '../contract/weather.ts';

export interface WeatherWrites {
  /** R16 for one provider. Resuming one with an open incident lets a probe go at once. */
  pause_provider: [{ provider: string; paused: boolean; by: string }, { paused: boolean } | Refusal];
}

export interface WeatherReads {
  /** Open ones first, then the newest. */
  incidents: [{ limit: number }, IncidentRow[]];
  incident: [{ id: string }, IncidentRow | null];
  providers: [Record<string, never>, ProviderRow[]];
}
