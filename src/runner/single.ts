/**
 * One runner per DROVER_HOME, the one that was started last: it asks the one before it, over a unix socket, to retire, waits
 * until that is gone, and takes its place. Two at once would both claim, both deliver and both kill, and what one of them
 * let go would be followed by nobody. A retired one leaves its agents with the holder.
 *
 * The place is a numbered file made by link(2), which one of many gets: `runner.place.N` names its process by proof of life.
 * The next number is free to take once that process is dead. Only files below one's own number are ever removed, so a late
 * comer cannot take away the place of a living one.
 */
import { chmodSync, linkSync, lstatSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { Fault } from '../contract/errors.ts';
import { ProofOfLife } from '../contract/runner-protocol.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { statOf } from './launchers/proc.ts';
import { bootId, isAlive } from './launchers/proof.ts';
import { readRecord } from './record-file.ts';

/** A retiring runner ends the requests it has out and closes; a host under load gets plenty. */
const retireMs = 15_000;
/** Between two looks at a place that is held by somebody who does not listen yet. */
const lookMs = 50;

interface Single {
  /** False when another runner has taken the name meanwhile. */
  isMine(): boolean;
  release(): void;
}

/** Resolves true when nobody listens there any more, false when who listens may stay; it says its pid first. */
const retireOther = (path: string, ms: number, mayStay: (pid: number) => boolean, { clock, log }: Kernel) =>
  new Promise<boolean>((resolve, reject) => {
    let pid = 'unknown';
    const socket = connect(path);
    const cancel = clock.after(ms, () => {
      socket.destroy();
      reject(stays(pid));
    });
    const gone = () => {
      cancel();
      resolve(true);
    };
    socket.setEncoding('utf8');
    socket.once('data', (said: string) => {
      pid = said.trim();
      if (mayStay(Number(pid))) {
        cancel();
        socket.destroy();
        return resolve(false);
      }
      socket.write('retire\n');
      socket.resume();
      log.info('the runner before this one is asked to leave', { pid });
    });
    socket.on('error', gone);
    socket.on('close', gone);
  });

const stays = (pid: number | string): Fault =>
  new Fault('not_ready', `Another runner (pid ${pid}) has this DROVER_HOME and does not leave. Stop it: kill ${pid}`);

const placeName = /^runner\.place\.(\d+)$/;
const places = (dir: string): number[] =>
  readdirSync(dir)
    .flatMap((name) => placeName.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
const placeFile = (dir: string, n: number): string => join(dir, `runner.place.${n}`);

/** True for one of all who try the same number. */
const take = (dir: string, n: number, self: ProofOfLife): boolean => {
  const own = join(dir, `runner.place.by-${process.pid}`);
  writeFileSync(own, JSON.stringify(self), { mode: 0o600 });
  try {
    linkSync(own, placeFile(dir, n));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
};

const laterThan = (a: ProofOfLife, b: ProofOfLife): boolean =>
  a.start_time === b.start_time ? a.pid > b.pid : a.start_time > b.start_time;

const proofOf = (pid: number): ProofOfLife => ({ pid, start_time: statOf(pid)?.start_time ?? 0, boot_id: bootId() });

/** Takes the place, or resolves false: a runner that was started after this one has it. */
const takePlace = async (path: string, kernel: Kernel): Promise<boolean> => {
  const { clock } = kernel;
  const dir = dirname(path);
  const self = proofOf(process.pid);
  let until = clock.steady() + retireMs;
  let asked = 0;
  for (;;) {
    const mayStay = (pid: number) => laterThan(proofOf(pid), self);
    if (!(await retireOther(path, Math.max(1, until - clock.steady()), mayStay, kernel))) return false;
    const [newest = 0, ...older] = places(dir);
    // Another one was quicker: it is asked in its turn, and gets the time that each gets.
    if (newest !== asked) until = clock.steady() + retireMs;
    asked = newest;
    const holder = newest === 0 ? null : readRecord(placeFile(dir, newest), ProofOfLife);
    // A runner that this very process had before is no other one.
    if (holder !== null && holder.pid !== self.pid && isAlive(holder)) {
      if (laterThan(holder, self)) return false;
      if (clock.steady() > until) throw stays(holder.pid);
      await clock.sleep(lookMs);
    } else if (take(dir, newest + 1, self)) {
      for (const n of [newest, ...older]) rmSync(placeFile(dir, n), { force: true });
      return true;
    }
  }
};

/** Null: this one makes way for a runner that was started later. */
export const becomeSingle = async (path: string, kernel: Kernel, onRetire: () => void): Promise<Single | null> => {
  if (!(await takePlace(path, kernel))) return null;
  const own = `${path}.${process.pid}`;
  const server: Server = createServer((client) => {
    client.on('error', () => client.destroy());
    client.setEncoding('utf8');
    client.on('data', (order: string) => {
      // Stays open until this process is gone: that is the answer.
      if (order.trim() === 'retire') onRetire();
    });
    client.write(`${process.pid}\n`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(own, resolve);
  });
  // Bound aside, then renamed: the path is a live socket or a dead one, never half of one.
  chmodSync(own, 0o600);
  renameSync(own, path);
  const inode = lstatSync(path).ino;
  server.unref();
  const isMine = () => lstatSync(path, { throwIfNoEntry: false })?.ino === inode;
  return {
    isMine,
    release() {
      if (isMine()) rmSync(path, { force: true });
      server.close();
    },
  };
};
