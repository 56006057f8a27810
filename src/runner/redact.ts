/**
 * Takes secrets out of what an agent printed before anything reads it: transcript, evidence and facts all come from lines
 * that went through here (R45). The lent values are known, after a restart of the runner by their marks; keys of the
 * providers are also known by their form.
 */
import { readCodexLogin } from '../contract/codex-login.ts';
import type { ClaimedWork } from '../contract/runner-protocol.ts';
import { hideMarked, type Mark, markOf } from './marks.ts';

const forms = new RegExp(
  [
    /\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{24,}\b/,
    /\bdrover_[A-Za-z0-9_-]{20,}\b/,
    /\bAIza[A-Za-z0-9_-]{35}\b/,
    // Tokens of a login that the CLI has refreshed in the middle of a run: nobody here has seen them before.
    /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/,
    /\brt[_.][A-Za-z0-9._-]{30,}\b/,
  ]
    .map((form) => form.source)
    .join('|'),
  'g',
);
const signs = ['sk-', 'drover_', 'AIza', 'eyJ', 'rt_', 'rt.'];
const hidden = '[hidden]';

/** Shorter values would hide ordinary words. */
const shortestSecret = 8;

export type Hide = (line: string) => string;

/** In a JSON line a value stands escaped. Longest first: one may hold another. */
const spellings = (secrets: readonly string[]): string[] =>
  [...new Set(secrets.flatMap((s) => [s, JSON.stringify(s).slice(1, -1)]))]
    .filter((s) => s.length >= shortestSecret)
    .sort((a, b) => b.length - a.length);

/** For the spool. */
export const marksOf = (secrets: readonly string[], salt: string): Mark[] =>
  spellings(secrets).map((s) => markOf(s, salt));

export const redactor = (secrets: readonly string[], marks: readonly Mark[] = []): Hide => {
  const known = spellings(secrets);
  return (line) => {
    let out = line;
    for (const secret of known) if (out.includes(secret)) out = out.replaceAll(secret, hidden);
    for (const mark of marks) out = hideMarked(out, mark, hidden);
    return signs.some((sign) => out.includes(sign)) ? out.replace(forms, hidden) : out;
  };
};

/** What was lent, by the environment or in a login file. */
export const lentSecrets = (credential: ClaimedWork['credential']): string[] => [
  ...Object.values(credential?.env ?? {}),
  ...(readCodexLogin(credential?.login ?? '')?.secrets ?? []),
];

/** Values that nothing may show: what was lent, and the token that fences the attempt. */
export const secretsOf = (
  claim: Pick<ClaimedWork, 'credential' | 'token'> & Partial<Pick<ClaimedWork, 'secrets'>>,
): string[] => [...lentSecrets(claim.credential), ...Object.values(claim.secrets ?? {}), claim.token];
