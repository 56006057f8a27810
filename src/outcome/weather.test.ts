import { expect, it } from 'vitest';
import { aVerdict } from '../../test/support/rows.ts';
import { verifies } from '../../test/support/verifies.ts';
import { causeNames } from '../contract/causes.ts';
import { weatherOf } from './weather.ts';

it(
  verifies('R40')('of all causes these alone are weather: no signal, OOM, timeout, cancel, or refusal of our own'),
  () => {
    const weather = causeNames.filter((cause) => weatherOf(aVerdict({ cause })) !== null);
    expect(weather).toEqual([
      'overloaded',
      'api_server_error',
      'network_failure',
      'tls_failure',
      'edge_blocked',
      'malformed_response',
    ]);
  },
);

it(verifies('R40')('what is not known is no weather, whatever else the run met before it was killed'), () => {
  expect(weatherOf(aVerdict({ cause: 'overloaded', confidence: 'unknown' }))).toBeNull();
  expect(weatherOf(aVerdict({ cause: 'killed_unknown', secondary: ['overloaded'] }))).toBeNull();
  expect(weatherOf(aVerdict({ cause: 'overloaded', evidence: ['529'] }))).toEqual({
    family: 'overload',
    evidence: '529',
  });
});
