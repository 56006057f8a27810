/**
 * When the host is out of memory the kernel takes an agent (+500, set by the holder at its spawn) before the server and the holder
 * (−500), which hold what the others did. Lowering it needs a right (CAP_SYS_RESOURCE); without it the value stays what it was.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const file = '/proc/self/oom_score_adj';
const wanted = '-500';

export const sparedByKernel = (): void => {
  try {
    // Not raised where somebody has set less.
    if (Number(readFileSync(file, 'utf8')) > Number(wanted)) writeFileSync(file, wanted);
  } catch {
    // No right to, or no such file.
  }
};
