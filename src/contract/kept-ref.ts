/**
 * Under which ref of the person's repository the work of an attempt is kept (R31). `left`: what could not be kept at its ending (a
 * full disk) or whose runner died first. It may not be there yet: the runner that resumes it, or the next one that starts, keeps it
 * then.
 */

export const keptRef = (execution: string, attempt: string): string => `refs/drover/${execution}/${attempt}`;

/** In the place of an attempt's id. */
export const leftAttempt = 'left';
export const leftRef = (execution: string): string => keptRef(execution, leftAttempt);

/** Whose tree that is; null when it is no such ref. */
export const leftBy = (ref: string): string | null => /^refs\/drover\/([^/]+)\/left$/.exec(ref)?.[1] ?? null;
