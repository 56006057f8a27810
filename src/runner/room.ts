/** What this host has room for, as the server's claim needs it: places, memory and disk, read each time (R19). */
import { readFile, statfs } from 'node:fs/promises';
import type { RunnerRoom } from '../contract/runner-protocol.ts';
import { sizeIn } from './launchers/proc.ts';

export const readRoom = async (home: string, slots: number | null): Promise<RunnerRoom> => {
  const [memory, disk] = await Promise.all([readFile('/proc/meminfo', 'utf8').catch(() => ''), statfs(home)]);
  return {
    slots,
    memory_total: sizeIn(memory, 'MemTotal'),
    memory_available: sizeIn(memory, 'MemAvailable'),
    disk_total: disk.blocks * disk.bsize,
    // What an ordinary user may still write: the reserve of root is not counted.
    disk_available: disk.bavail * disk.bsize,
  };
};
