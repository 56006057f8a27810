/**
 * verdict → is it weather? Pure. Only the causes of the table in contract/, and only with evidence: what a signal, a memory limit,
 * a deadline, a cancel or Drover's own refusal ended never comes here, whatever the run said before.
 */
import type { Verdict } from '../contract/verdict.ts';
import { type WeatherFamily, weatherFamilies } from '../contract/weather.ts';

interface WeatherSign {
  family: WeatherFamily;
  evidence: string;
}

export const weatherOf = (verdict: Verdict): WeatherSign | null => {
  const family = weatherFamilies[verdict.cause];
  if (family === undefined || verdict.confidence === 'unknown') return null;
  return { family, evidence: verdict.evidence[0] ?? verdict.message };
};
