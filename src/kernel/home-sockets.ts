/** Where the holder and the runner of a DROVER_HOME listen: one rule for who listens, who asks and who looks. */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';

/** sun_path holds 107 bytes; the holder binds under `.PID` first, which takes up to 8 of them. */
const socketBytes = 107 - 8;

export const homeHash = (home: string): string => createHash('sha256').update(home).digest('hex').slice(0, 16);

/** DROVER_HOME/run/holder.sock, or for a home whose path is too long for a socket /tmp/drover-HASH/holder.sock. */
export const holderSocket = (home: string): string => {
  const usual = join(home, 'run', 'holder.sock');
  return Buffer.byteLength(usual) <= socketBytes ? usual : join('/tmp', `drover-${homeHash(home)}`, 'holder.sock');
};

export const runnerSocket = (home: string): string => join(dirname(holderSocket(home)), 'runner.sock');
