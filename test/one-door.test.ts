import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commit } from '../src/record/commit.ts';
import { type Fleet, openFleet } from './support/fleet.ts';
import { eachNode, isTest, programsIn, readProgram } from './support/sources.ts';
import { verifies } from './support/verifies.ts';

const src = resolve('src');
const sources = programsIn('src').filter((file) => !isTest(file));

/** The strings a program uses as values: verbs of the store are named by them. */
const strings = (file: string, text?: string): Set<string> => {
  const found = new Set<string>();
  eachNode(readProgram(file, text).tree, (n) => {
    // Types name verbs too (`WriteVerbs['cancel']`), and call none.
    if (n.type?.startsWith('TS') && n.type !== 'TSAsExpression' && n.type !== 'TSSatisfiesExpression') return false;
    if (n.type === 'Literal' && typeof n.value === 'string') found.add(n.value);
    return true;
  });
  return found;
};

const usersOf = (verb: string): string[] =>
  sources
    .map((file) => ({ file, name: relative(src, file) }))
    .filter(({ file, name }) => !name.startsWith('store/') && strings(file).has(verb))
    .map(({ name }) => name);

describe('one way in, one tail', () => {
  it(verifies('R4')('only flow/submit.ts may put work into the queue'), () => {
    for (const verb of ['enqueue', 'enqueue_fan_out']) expect(usersOf(verb)).toEqual(['flow/submit.ts']);
    // Whoever waits as an execution yields: one file knows how.
    for (const verb of ['open_call', 'abandon_call', 'detach_call'])
      expect(usersOf(verb).filter((f) => f !== 'flow/call.ts' && f !== 'flow/submit.ts')).toEqual([]);
  });

  it(
    verifies('R4')(
      'only flow/begin.ts hands work out, only flow/finish.ts records an ending, by a verdict of outcome/',
    ),
    () => {
      expect(usersOf('claim_next')).toEqual(['flow/begin.ts']);
      expect(usersOf('settle')).toEqual(['flow/finish.ts']);
      const finish = readFileSync(join(src, 'flow/finish.ts'), 'utf8');
      expect(finish).toMatch(/import \{[^}]*\bdiagnose\b[^}]*\} from '\.\.\/outcome\/diagnose\.ts'/);
    },
  );

  it('finds a second door when there is one', () => {
    expect([...strings('x.ts', "await commit(deps, 'enqueue', args);")]).toContain('enqueue');
    expect([...strings('x.ts', "type A = WriteVerbs['enqueue'];")]).not.toContain('enqueue');
  });
});

describe('every route', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await openFleet();
  });
  afterAll(() => fleet.end());

  it(verifies('R4')('called with what would be work, makes an execution only where work is given'), async () => {
    const { paths } = (await fleet.api('GET', '/openapi.json')).body as {
      paths: Record<string, Record<string, unknown>>;
    };
    const verbs: string[] = [];
    const { store } = fleet.deps;
    const write = store.write.bind(store);
    store.write = (verb, args) => {
      verbs.push(verb);
      return write(verb, args);
    };
    const body = {
      tasks: [{ id: '1', message: 'work' }],
      message: 'work',
      name: 'worker',
      command: ['cat'],
      adapter: 'command',
      value: 'x',
      reason: 'none',
    };
    const giving: string[] = [];
    let called = 0;
    for (const [path, methods] of Object.entries(paths))
      for (const method of Object.keys(methods)) {
        // A stream does not answer; it reads and writes nothing.
        if (/\/(stream|events)$/.test(path) && method === 'get') continue;
        // Each call meets an agent that takes work, whatever the calls before it did.
        const worker = (await store.read('agent_by_name', { name: 'worker' })) ?? (await fleet.agent('worker'));
        await commit(fleet.deps, 'update_agent', { id: worker.id, patch: { desired_state: 'running' } });
        verbs.length = 0;
        const url = path.replace('{name}', 'worker').replace(/\{\w+\}/g, 'some-id');
        await fleet.api(method.toUpperCase(), url, method === 'get' ? undefined : body, { prefer: 'wait=0' });
        called++;
        if (verbs.some((v) => v.startsWith('enqueue'))) giving.push(`${method} ${path}`);
        await fleet.clock.advance(0);
      }
    expect(called).toBeGreaterThan(30);
    expect(giving.sort()).toEqual([
      'post /api/agents/{name}/chat',
      'post /api/agents/{name}/fan-out',
      'post /api/agents/{name}/task',
    ]);
  });

  it(verifies('R4')('and of the tools of MCP only those that give work do, through the same function'), async () => {
    const { tools } = await import('../src/mcp/serve.ts');
    const verbs: string[] = [];
    const { store } = fleet.deps;
    const write = store.write.bind(store);
    store.write = (verb, args) => {
      verbs.push(verb);
      return write(verb, args);
    };
    const made = (await store.read('agent_by_name', { name: 'worker' })) ?? (await fleet.agent('worker'));
    await commit(fleet.deps, 'update_agent', { id: made.id, patch: { desired_state: 'running' } });
    const args = {
      agent_name: 'worker',
      message: 'work',
      execution_id: 'some-id',
      fan_out_id: 'some-id',
      name: 'another',
      async: true,
      tasks: [{ id: '1', message: 'work' }],
    };
    const giving: string[] = [];
    // The one that takes the agent away comes last.
    for (const tool of [...tools].sort((a) => (a.name === 'delete_agent' ? 1 : -1))) {
      await commit(fleet.deps, 'update_agent', { id: made.id, patch: { desired_state: 'running' } });
      verbs.length = 0;
      await fleet.api(
        'POST',
        '/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool.name, arguments: args } },
        { accept: 'application/json, text/event-stream' },
      );
      if (verbs.some((v) => v.startsWith('enqueue'))) giving.push(tool.name);
    }
    expect(tools.length).toBeGreaterThan(12);
    expect(giving.sort()).toEqual(['chat_with_agent', 'fan_out']);
  });
});
