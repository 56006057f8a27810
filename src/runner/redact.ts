/**
 * Takes secrets out of what an agent printed before anything reads it: transcript, evidence and facts all come from lines
 * that went through here (R45). The lent values are known; keys of the providers are also known by their form, since
 * after a restart of the runner the values may not be.
 */
import type { ClaimedWork } from '../contract/runner-protocol.ts';

const forms = /\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{24,}\b|\bdrover_[A-Za-z0-9_-]{20,}\b/g;
const hidden = '[hidden]';

/** Shorter values would hide ordinary words. */
const shortestSecret = 8;

export const redactor = (secrets: readonly string[]): ((line: string) => string) => {
  // In a JSON line a value stands escaped.
  const known = [...new Set(secrets.flatMap((s) => [s, JSON.stringify(s).slice(1, -1)]))]
    .filter((s) => s.length >= shortestSecret)
    .sort((a, b) => b.length - a.length);
  return (line) => {
    let out = line;
    for (const secret of known) if (out.includes(secret)) out = out.replaceAll(secret, hidden);
    return out.includes('sk-') || out.includes('drover_') ? out.replace(forms, hidden) : out;
  };
};

/** Values that nothing may show: what was lent, and the token that fences the attempt. */
export const secretsOf = (claim: Pick<ClaimedWork, 'credential' | 'token'>): string[] => [
  ...Object.values(claim.credential?.env ?? {}),
  claim.token,
];
