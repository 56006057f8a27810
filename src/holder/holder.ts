/**
 * The holder: one small process per host and DROVER_HOME, the parent of the agents' processes. Server and runner may be
 * killed and upgraded while it waits; an ending is on disk (the attempt's exit file) before anyone is told of it.
 * It speaks JSON lines on a unix socket: `{hello, protocol, pid, boot}` first, then one answer per order (`ref` says to
 * which) and one event per exit. Orders: spawn, signal, list, retire.
 * It imports nothing of ours, decides nothing, keeps no environment and never leaves while it has children.
 *   node holder.js DROVER_HOME SOCKET [kept]    says "ready" or "taken" on stdout once, logs on stderr; `kept`: for its runner to read
 */
import { type ChildProcess, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

const protocol = 1;
/** How often an exit record that could not be written (full disk) is tried again, and the socket's file is looked at. */
const lookAgainMs = 1_000;

interface Order {
  ref: unknown;
  order: 'spawn' | 'signal' | 'list' | 'retire';
  id: string;
  signal?: NodeJS.Signals;
  group?: boolean;
  argv: string[];
  cwd: string;
  env: Record<string, string>;
  stdio: [string, string, string];
  uid?: number;
  gid?: number;
  /** One pair per hierarchy: the run's own, and the one the holder goes back to. */
  cgroup_procs?: { enter: string; leave: string }[];
  exit_file: string;
}
type Ending = { exit_code: number | null; signal: string | null; at: number; spawn_error: null };

const children = new Map<string, { id: string; pid: number; start_time: number; started_at: number }>();
const unwritten = new Map<string, { file: string; ending: Ending }>();
const clients = new Set<Socket>();
const idle = () => children.size + unwritten.size === 0;

const log = (message: string, fields: object = {}) =>
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), message, ...fields })}\n`);
const quietly = <T>(run: () => T): T | undefined => {
  try {
    return run();
  } catch {}
};
const read = (file: string): string => quietly(() => fs.readFileSync(file, 'utf8').trim()) ?? '';
/** Without the right to lower it (CAP_SYS_RESOURCE) the value stays what it was. */
const setOomScore = (value: string): string => {
  quietly(() => fs.writeFileSync('/proc/self/oom_score_adj', value));
  return read('/proc/self/oom_score_adj');
};
const boot = read('/proc/sys/kernel/random/boot_id');
const ownOomScore = setOomScore('-500');

/** The fields of /proc/PID/stat from the third on: the name before them may hold spaces and brackets. */
const statOf = (pid: number): string[] => {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

/** Temporary file, fsync, rename: a reader sees a whole record or none. No directory: nobody wants it any more. */
const write = (id: string, file: string, ending: Ending) => {
  try {
    fs.writeFileSync(`${file}.tmp`, JSON.stringify(ending), { mode: 0o600, flush: true });
    fs.renameSync(`${file}.tmp`, file);
    unwritten.delete(id);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return unwritten.delete(id);
    if (!unwritten.has(id)) log('cannot write an exit record, trying again', { id, file, error: String(error) });
    unwritten.set(id, { file, ending });
  }
};

/** All synchronous, the way back in `finally`: the child is born inside (moved later, a quick grandchild escapes), nothing else. */
const spawnInside = (order: Order): ChildProcess => {
  const fds: number[] = [];
  const entered: string[] = [];
  try {
    for (const [i, file] of order.stdio.entries()) fds.push(fs.openSync(file, i === 0 ? 'r' : 'a', 0o600));
    for (const { enter, leave } of order.cgroup_procs ?? []) {
      fs.writeFileSync(enter, String(process.pid));
      entered.push(leave);
    }
    setOomScore('500');
    const { argv, cwd, env, uid, gid } = order;
    return spawn(argv[0] ?? '', argv.slice(1), { cwd, env, uid, gid, stdio: fds, detached: true });
  } finally {
    for (const procs of entered)
      try {
        fs.writeFileSync(procs, String(process.pid));
      } catch (error) {
        log('cannot step out of a cgroup', { procs, error: String(error) });
      }
    setOomScore(ownOomScore);
    for (const fd of fds) fs.closeSync(fd);
  }
};

const start = async (order: Order): Promise<object> => {
  const { id, exit_file } = order;
  const failed = ({ code, syscall, path, message }: NodeJS.ErrnoException) => ({
    spawn_error: { code: code ?? 'UNKNOWN', syscall: syscall ?? null, path: path ?? null, message },
  });
  // A client that lost its connection sends its order again: one id is one process.
  if (children.has(id)) return children.get(id)!;
  if (unwritten.has(id) || fs.existsSync(exit_file)) return { error: 'has_ended' };
  try {
    const child = spawnInside(order);
    const pid = child.pid;
    if (pid === undefined) return await new Promise((done) => child.once('error', (e) => done(failed(e))));
    children.set(id, { id, pid, start_time: Number(statOf(pid)[19]), started_at: Date.now() });
    child.on('error', (error) => log('child error', { id, error: String(error) }));
    child.once('exit', (exit_code, signal) => {
      const ending: Ending = { exit_code, signal, at: Date.now(), spawn_error: null };
      write(id, exit_file, ending);
      children.delete(id);
      for (const client of clients) say(client, { event: 'exit', id, ...ending });
    });
    return children.get(id)!;
  } catch (error) {
    return failed(error as NodeJS.ErrnoException);
  }
};

const obey = async (order: Order): Promise<object> => {
  if (order.order === 'spawn') return await start(order);
  if (order.order === 'signal') {
    const pid = children.get(order.id)?.pid;
    // Not sent when the leader has exited already (a zombie counts): such a process was not stopped by us.
    if (pid === undefined || statOf(pid)[0] === 'Z') return { sent: false };
    return { sent: process.kill(order.group ? -pid : pid, order.signal) };
  }
  if (order.order === 'list') return { children: [...children.values()], unwritten: [...unwritten.keys()] };
  if (order.order === 'retire') {
    // Once all that came with it is obeyed: looked at, answered and done in one turn. Another client may have an order under way.
    await new Promise(setImmediate);
    const retired = idle() && clients.size === 1;
    if (retired) process.nextTick(leave, 'retired');
    return { retired, children: children.size };
  }
  return { error: `unknown order ${JSON.stringify(order.order)}` };
};
const say = (client: Socket, message: object) => void client.write(`${JSON.stringify(message)}\n`);

const answer = async (client: Socket, line: string) => {
  let order: Partial<Order> = {};
  try {
    order = JSON.parse(line);
    say(client, { ref: order.ref, ...(await obey(order as Order)) });
  } catch (error) {
    say(client, { ref: order.ref, error: String(error) });
  }
};
const serve = (client: Socket) => {
  clients.add(client);
  client.on('error', () => client.destroy()).on('close', () => clients.delete(client));
  createInterface({ input: client }).on('line', (line) => void answer(client, line));
  say(client, { hello: 'drover-holder', protocol, pid: process.pid, boot });
};

const [home, path] = process.argv.slice(2);
if (!home || !path) throw new Error('usage: holder DROVER_HOME SOCKET');
const own = `${path}.${process.pid}`;
let inode: bigint | undefined;
const mine = () => fs.lstatSync(path, { throwIfNoEntry: false, bigint: true })?.ino === inode;
const leave = (why: string) => {
  log('leaving', { why });
  if (mine()) fs.rmSync(path, { force: true });
  process.exit(0);
};
const open = () =>
  // Bound under a name of its own, then renamed: the path is a live socket or a dead one, never half of one.
  createServer(serve).listen(own, () => {
    fs.chmodSync(own, 0o600);
    fs.renameSync(own, path);
    inode = fs.lstatSync(path, { bigint: true }).ino;
    setInterval(() => {
      for (const [id, { file, ending }] of unwritten) write(id, file, ending);
      // The socket's file is gone or another holder's: nobody can find this one any more.
      if (idle() && !mine()) leave('its socket is gone');
    }, lookAgainMs);
    log('ready', { pid: process.pid, home, path, protocol });
    process.stdout.write('ready\n');
  });

process.stdout.on('error', () => {});
// Once it has a socket nothing may end it but its own decision: a fault of one order is not worth everyone's exit codes.
process.on('uncaughtException', (error) => {
  log('fault', { error: error.stack });
  if (inode === undefined) process.exit(1);
});
for (const name of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const)
  process.on(name, () => (idle() ? leave(name) : log('signal ignored: agents run', { name, children: children.size })));
const probe = connect(path);
probe.once('connect', () => process.stdout.write('taken\n', () => process.exit(0)));
probe.once('error', open);
