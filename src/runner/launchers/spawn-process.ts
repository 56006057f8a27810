/**
 * From an order to a held process: lay out the directory, make the cgroup, write down what a cleaner must know, spawn, write
 * down the proof of life. Whatever fails before there is a process is a spawn error with nothing left behind.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import type { MemoryFacts, SpawnError } from '../../contract/facts.ts';
import { homeHash } from '../../kernel/home-sockets.ts';
import { writeRecord } from '../record-file.ts';
import { giveToAgent } from './agent-user.ts';
import { files, type HeldRecord } from './attempt-files.ts';
import { type Leaf, makeLeaf, readCounters, removeLeaf } from './cgroup-leaf.ts';
import type { HeldChild } from './holder-client.ts';
import type { LaunchHost } from './launch-host.ts';
import type { Held, SpawnOrder } from './launcher.ts';
import { hostOomKills, statOf } from './proc.ts';
import { spawnErrorOf, toldBy } from './spawn-error.ts';
import { killTree } from './tear-down.ts';
import { marker } from './tree.ts';

/** The kernel takes about 2 MB of arguments and environment; above this the holder is not even asked. */
const orderBytes = 8 * 1024 * 1024;

const heldBy = (leaf: Leaf | null, memoryBytes: number | null): MemoryFacts['held_by'] => {
  if (leaf === null) return memoryBytes === null ? 'none' : 'rss_watch';
  return leaf.kind === 'systemd' ? 'systemd' : `cgroup_${leaf.kind}`;
};

/** Of every run of this DROVER_HOME: two homes may share a place. */
export const leafPrefix = (home: string): string => `drover-${homeHash(home).slice(0, 8)}-`;

const makeRunLeaf = (host: LaunchHost, order: SpawnOrder): Leaf | null => {
  if (host.place === null) return null;
  const name = `${leafPrefix(host.home)}${order.attempt}`;
  try {
    return makeLeaf(host.place, name, { memory_bytes: order.memory_bytes, cpu: order.cpu });
  } catch (error) {
    host.kernel.log.warn('no cgroup for this run: its limit is held by watching', { attempt: order.attempt, error });
    return null;
  }
};

const recordOf = ({ hello }: LaunchHost, order: SpawnOrder, leaf: Leaf | null): HeldRecord => ({
  version: 1,
  attempt: order.attempt,
  proof: null,
  holder: { pid: hello.pid, start_time: statOf(hello.pid)?.start_time ?? 0, boot_id: hello.boot },
  started_at: null,
  held_by: heldBy(leaf, order.memory_bytes),
  leaf,
  memory_bytes: order.memory_bytes,
  oom_kills_before: leaf ? readCounters(leaf).oom_kills : null,
  host_oom_kills_before: hostOomKills(),
});

const layOut = ({ user, home }: LaunchHost, order: SpawnOrder): void => {
  const at = files(order.dir);
  mkdirSync(order.dir, { recursive: true, mode: 0o700 });
  writeFileSync(at.stdin, order.stdin, { mode: 0o600 });
  for (const stream of [at.stdout, at.stderr]) writeFileSync(stream, '', { mode: 0o600, flag: 'a' });
  if (!user) return;
  // A CLI may open /dev/stdout again: then the files must be its own, and their directory passable.
  chmodSync(order.dir, 0o711);
  for (const path of [at.stdin, at.stdout, at.stderr, order.cwd]) giveToAgent(user, home, path);
};

const ask = async (host: LaunchHost, order: SpawnOrder, leaf: Leaf | null): Promise<HeldChild | SpawnError | null> => {
  const at = files(order.dir);
  const told = await host.holder.spawn({
    id: order.attempt,
    argv: order.argv,
    cwd: order.cwd,
    env: { ...order.env, [marker]: order.attempt },
    stdio: [at.stdin, at.stdout, at.stderr],
    uid: host.user?.uid,
    gid: host.user?.gid,
    cgroup_procs: leaf?.procs ?? [],
    exit_file: at.exit,
  });
  if ('pid' in told) return told;
  if ('spawn_error' in told) {
    // The holder's own reads and writes are not called `spawn …`: it could not step into the cgroup.
    const { syscall, path } = told.spawn_error;
    if (leaf && (syscall === 'write' || leaf.procs.some((p) => p.enter === path))) return null;
    return spawnErrorOf(told.spawn_error, order);
  }
  const message = told.error === 'holder_lost' ? 'The holder was killed while it started this process.' : told.error;
  return spawnErrorOf({ code: told.error.toUpperCase(), syscall: null, path: null, message }, order);
};

/** A child, or the error with what was made already. */
const start = async (
  host: LaunchHost,
  order: SpawnOrder,
): Promise<{ child: HeldChild | SpawnError; record: HeldRecord }> => {
  const { held } = files(order.dir);
  layOut(host, order);
  for (const leaf of [makeRunLeaf(host, order), null]) {
    const record = recordOf(host, order, leaf);
    writeRecord(held, record);
    const child = await ask(host, order, leaf);
    if (child !== null) return { child, record };
    host.kernel.log.warn('the holder cannot enter a cgroup: the limit is held by watching', { attempt: order.attempt });
    if (leaf) removeLeaf(leaf);
  }
  throw new Error('unreachable: without a cgroup there is none to be refused');
};

export const spawnProcess = async (
  host: LaunchHost,
  order: SpawnOrder,
): Promise<{ held: Held; record: HeldRecord } | { spawn_error: SpawnError }> => {
  const { log, clock } = host.kernel;
  const failed = (spawn_error: SpawnError, leaf: Leaf | null = null) => {
    try {
      mkdirSync(order.dir, { recursive: true, mode: 0o700 });
      writeRecord(files(order.dir).held, recordOf(host, order, leaf));
      writeRecord(files(order.dir).exit, { exit_code: null, signal: null, at: clock.now(), spawn_error });
    } catch (error) {
      log.warn('a spawn error is not on disk', { attempt: order.attempt, error });
    }
    return { spawn_error };
  };
  const size = JSON.stringify([order.argv, order.env]).length;
  if (size > orderBytes) {
    const message = `arguments and environment take ${size} bytes`;
    return failed(spawnErrorOf({ code: 'E2BIG', syscall: 'spawn', path: order.argv[0] ?? null, message }, order));
  }
  await host.reach();
  let started: Awaited<ReturnType<typeof start>>;
  try {
    started = await start(host, order);
  } catch (error) {
    return failed(spawnErrorOf(toldBy(error), order));
  }
  const { child } = started;
  if ('code' in child) {
    // Whether the lost holder had started it is not known: whoever carries the marker goes.
    if (child.code === 'HOLDER_LOST') killTree(order.attempt, started.record, host.spare);
    const { leaf } = started.record;
    // What is dying holds its cgroup a moment longer: then the teardown takes it away.
    return failed(child, leaf && removeLeaf(leaf) ? null : leaf);
  }
  const proof = { pid: child.pid, start_time: child.start_time, boot_id: host.hello.boot };
  const record: HeldRecord = { ...started.record, proof, started_at: child.started_at };
  const held = host.watched.add(order.attempt, order.dir, proof, child.started_at);
  try {
    writeRecord(files(order.dir).held, record);
  } catch (error) {
    // It runs; the holder's list has the same facts for as long as the holder lives.
    log.warn('held.json is not on disk', { attempt: order.attempt, error });
  }
  // It may have exited before the answer was read: then its event met nobody.
  void host.watched.follow(order.attempt);
  return { held, record };
};
