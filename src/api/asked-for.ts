/**
 * What a client asks for beside the body when it gives work: a key that makes sending it twice one execution, and how long it will
 * hold the line. Read the same way by every door. What cannot be read is refused for the key, ignored for the wait (RFC 7240).
 */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { refuse } from '../contract/errors.ts';
import { limits } from '../contract/limits.ts';
import { Refused } from './route.ts';

export const idempotencyKey = (request: FastifyRequest): string | null => {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  const key = String(header).trim();
  if (key === '' || key.length > 255)
    throw new Refused(
      refuse('invalid', 'Idempotency-Key needs 1 to 255 characters.', { details: [{ field: 'Idempotency-Key' }] }),
    );
  return key;
};

const longestWaitS = limits.timeoutS.max;

/** `Prefer: wait=N` (RFC 7240); null = as long as it takes. What cannot be read is ignored, as the RFC has it. */
export const preferredWaitMs = (request: FastifyRequest): number | null => {
  const prefer = [request.headers.prefer ?? []].flat().join(',');
  const wait = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(prefer);
  return wait === null ? null : Math.min(Number(wait[1]), longestWaitS) * 1000;
};

/** Same key, same hash: the same request. Over the parsed body, so that spaces and the order of keys do not matter. */
export const hashOf = (...parts: unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify(parts.map(ordered)))
    .digest('hex');

const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, v]) => v != null)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, ordered(v)]),
  );
};
