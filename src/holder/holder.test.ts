import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lives, until } from '../../test/support/held.ts';
import { verifies } from '../../test/support/verifies.ts';

let home: string;
let path: string;
const started: ChildProcess[] = [];
const sockets: Socket[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'held-holder-'));
  path = join(home, 'holder.sock');
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(home, { recursive: true, force: true });
});

const hold = async (): Promise<{ child: ChildProcess; said: string }> => {
  const child = spawn(process.execPath, [resolve('src/holder/holder.ts'), home, path], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {},
  });
  started.push(child);
  const [said] = (await once(child.stdout!, 'data')) as [Buffer];
  return { child, said: String(said).trim() };
};

interface Talk {
  hello: Record<string, unknown>;
  events: Record<string, unknown>[];
  ask(order: object): Promise<Record<string, unknown>>;
  raw(text: string): void;
}
const talk = async (): Promise<Talk> => {
  const socket = connect(path).setEncoding('utf8');
  sockets.push(socket);
  const lines: Record<string, unknown>[] = [];
  const events: Record<string, unknown>[] = [];
  let rest = '';
  socket.on('data', (chunk) => {
    const parts = (rest + String(chunk)).split('\n');
    rest = parts.pop()!;
    for (const message of parts.map((p) => JSON.parse(p))) (message.event ? events : lines).push(message);
  });
  await until(() => expect(lines.length).toBe(1));
  let ref = 0;
  return {
    hello: lines[0]!,
    events,
    raw: (text) => void socket.write(text),
    ask: async (order) => {
      const mine = ++ref;
      socket.write(`${JSON.stringify({ ...order, ref: mine })}\n`);
      return await until(() => {
        const answer = lines.find((l) => l.ref === mine);
        if (!answer) throw new Error('not yet');
        return answer;
      });
    },
  };
};

const order = (id: string, script: string, more: object = {}) => {
  const dir = join(home, id);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'in'), '');
  return {
    order: 'spawn',
    id,
    argv: ['/bin/sh', '-c', script],
    cwd: home,
    env: { PATH: '/usr/bin:/bin' },
    stdio: [join(dir, 'in'), join(dir, 'out'), join(dir, 'err')],
    exit_file: join(dir, 'exit.json'),
    ...more,
  };
};

describe('the holder', () => {
  it(verifies('R2')('greets with its protocol, pid and boot on a socket that only its user may open'), async () => {
    const { child, said } = await hold();
    expect(said).toBe('ready');
    const { hello } = await talk();
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    expect(hello).toEqual({ hello: 'drover-holder', protocol: 1, pid: child.pid, boot });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it(verifies('R2')('has the ending on disk before it tells of it, and tells every client'), async () => {
    await hold();
    const [one, two] = [await talk(), await talk()];
    const made = order('a', 'exit 3');
    const answer = await one.ask(made);
    expect(answer).toMatchObject({ id: 'a', pid: expect.any(Number), start_time: expect.any(Number) });
    await until(() => expect(two.events).toHaveLength(1));
    const record = JSON.parse(readFileSync(made.exit_file, 'utf8'));
    expect(record).toMatchObject({ exit_code: 3, signal: null, spawn_error: null });
    expect(two.events[0]).toEqual({ event: 'exit', id: 'a', ...record });
    await until(() => expect(one.events).toEqual(two.events));
    expect(await one.ask({ order: 'list' })).toMatchObject({ children: [], unwritten: [] });
  });

  it(verifies('R24')('starts an id once, however often it is told'), async () => {
    await hold();
    const { ask } = await talk();
    const made = order('b', 'echo started; read line < /dev/null; while [ ! -e go ]; do sleep 0.02; done');
    const [first, second] = await Promise.all([ask(made), ask(made)]);
    expect(second.pid).toBe(first.pid);
    writeFileSync(join(home, 'go'), '');
    await until(() => expect(existsSync(made.exit_file)).toBe(true));
    expect(await ask(made)).toMatchObject({ error: 'has_ended' });
    expect(readFileSync(join(home, 'b', 'out'), 'utf8')).toBe('started\n');
  });

  it(verifies('R2')('does not leave while it has children, whatever signal comes; then it does'), async () => {
    const { child } = await hold();
    const { ask } = await talk();
    let log = '';
    child.stderr!.setEncoding('utf8').on('data', (text) => {
      log += text;
    });
    await ask(order('c', 'while [ ! -e go ]; do sleep 0.02; done'));
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) child.kill(signal);
    await until(() => expect(log.match(/signal ignored/g)).toHaveLength(3));
    expect(await ask({ order: 'retire' })).toMatchObject({ retired: false, children: 1 });
    expect(lives(child.pid!)).toBe(true);
    writeFileSync(join(home, 'go'), '');
    await until(async () => expect(await ask({ order: 'list' })).toMatchObject({ children: [] }));
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(existsSync(path)).toBe(false);
  });

  it('retires when told and idle', async () => {
    const { child } = await hold();
    const gone = once(child, 'exit');
    expect(await (await talk()).ask({ order: 'retire' })).toMatchObject({ retired: true });
    expect(await gone).toEqual([0, null]);
  });

  it(verifies('R2')('obeys an order that came with the order to retire, and stays for it'), async () => {
    const { child } = await hold();
    const { ask, raw } = await talk();
    const made = order('late', 'while [ ! -e go ]; do sleep 0.02; done');
    raw(`${JSON.stringify({ order: 'retire', ref: 'r' })}\n${JSON.stringify({ ...made, ref: 's' })}\n`);
    expect(await ask({ order: 'list' })).toMatchObject({ children: [{ id: 'late' }] });
    expect(await ask({ order: 'retire' })).toMatchObject({ retired: false, children: 1 });
    writeFileSync(join(home, 'go'), '');
    await until(() => expect(JSON.parse(readFileSync(made.exit_file, 'utf8')).exit_code).toBe(0));
    expect(lives(child.pid!)).toBe(true);
  });

  it(verifies('R2')('stays for another client, whose order may be under way'), async () => {
    const { child } = await hold();
    const [one, two] = [await talk(), await talk()];
    expect(await one.ask({ order: 'retire' })).toMatchObject({ retired: false });
    expect(await two.ask({ order: 'list' })).toMatchObject({ children: [] });
    const gone = once(child, 'exit');
    sockets[0]!.destroy();
    await until(async () => expect(await two.ask({ order: 'retire' })).toMatchObject({ retired: true }));
    expect(await gone).toEqual([0, null]);
  });

  it(verifies('R2')('is one: a second leaves, and a dead socket is replaced'), async () => {
    const { child } = await hold();
    const second = await hold();
    expect(second.said).toBe('taken');
    await until(() => expect(second.child.exitCode).toBe(0));
    expect((await talk()).hello.pid).toBe(child.pid);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(path)).toBe(true);
    const third = await hold();
    expect(third.said).toBe('ready');
    expect((await talk()).hello.pid).toBe(third.child.pid);
  });

  it('leaves when nobody can find it any more', async () => {
    const { child } = await hold();
    const gone = once(child, 'exit');
    renameSync(path, `${path}.away`);
    expect(await gone).toEqual([0, null]);
  });

  it(verifies('R34')('keeps an ending that cannot be written, and writes it when it can'), async () => {
    await hold();
    const { ask, events } = await talk();
    const made = order('d', 'exit 6');
    mkdirSync(`${made.exit_file}.tmp`);
    await ask(made);
    await until(() => expect(events).toHaveLength(1));
    expect(existsSync(made.exit_file)).toBe(false);
    expect(await ask({ order: 'list' })).toMatchObject({ children: [], unwritten: ['d'] });
    expect(await ask({ order: 'retire' })).toMatchObject({ retired: false });
    rmdirSync(`${made.exit_file}.tmp`);
    await until(() => expect(JSON.parse(readFileSync(made.exit_file, 'utf8')).exit_code).toBe(6));
    expect(await ask({ order: 'list' })).toMatchObject({ unwritten: [] });
  });

  it('answers nonsense with an error and goes on', async () => {
    await hold();
    const { ask, raw } = await talk();
    raw('no json\n{"order":"spawn"}\n{"order":"sp');
    raw('in"}\n');
    expect(await ask({ order: 'dance' })).toMatchObject({ error: 'unknown order "dance"' });
    expect(await ask({ order: 'spawn', id: 'x', exit_file: '/nowhere/exit.json' })).toHaveProperty('spawn_error');
    expect(await ask({ order: 'signal', id: 'nobody', signal: 'SIGKILL' })).toMatchObject({ sent: false });
    expect(await ask({ order: 'list' })).toMatchObject({ children: [] });
  });

  it(verifies('R27')('steps into the cgroup for the spawn and out again, also when the spawn fails'), async () => {
    const { child } = await hold();
    const { ask } = await talk();
    // Two files stand for cgroup.procs: what is written last shows that it came back.
    const procs = { enter: join(home, 'enter'), leave: join(home, 'leave') };
    for (const [id, argv] of Object.entries({ ok: ['/bin/true'], bad: ['/nowhere/program'], nul: ['a\0b'] })) {
      for (const file of Object.values(procs)) rmSync(file, { force: true });
      await ask(order(id, '', { argv, cgroup_procs: [procs] }));
      expect(readFileSync(procs.enter, 'utf8')).toBe(String(child.pid));
      expect(readFileSync(procs.leave, 'utf8')).toBe(String(child.pid));
    }
    const refused = await ask(order('no', 'true', { cgroup_procs: [procs, { enter: '/nowhere/procs', leave: '' }] }));
    expect(refused).toMatchObject({ spawn_error: { code: 'ENOENT', syscall: 'open', path: '/nowhere/procs' } });
    expect(existsSync(join(home, 'no', 'exit.json'))).toBe(false);
  });
});

it(verifies('R2')('the holder is well under 200 lines and imports nothing of ours'), () => {
  const text = readFileSync(resolve('src/holder/holder.ts'), 'utf8');
  expect(text.split('\n').length).toBeLessThan(200);
  for (const [, from] of text.matchAll(/from '([^']+)'/g)) expect(from).toMatch(/^node:/);
});
