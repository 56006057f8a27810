/**
 * What bearer tokens look like and how they are kept. A token is 256 random bits, so one sha256 is a safe hash of it (a slow
 * hash is for what people choose); only the hash is stored. Comparing hashes by an index leaks nothing about the token.
 */
import { hash } from 'node:crypto';
import { type Random, secretToken } from '../kernel/ids.ts';

export const keyPrefix = 'drover_';
const sessionPrefix = 'drs_';

export const newKey = (random: Random): string => keyPrefix + secretToken(random);
export const newSessionToken = (random: Random): string => sessionPrefix + secretToken(random);
export const hashToken = (token: string): string => hash('sha256', token, 'hex');
/** Enough for a person to tell keys apart, not to use one. */
export const shownPrefix = (key: string): string => key.slice(0, keyPrefix.length + 6);

export const bearerOf = (header: string | undefined): string | null => {
  const m = /^Bearer +(\S+) *$/i.exec(header ?? '');
  return m ? m[1]! : null;
};
