import { describe, expect, it } from 'vitest';
import { manualClock } from '../../test/support/manual-clock.ts';
import { anAgent } from '../../test/support/rows.ts';
import type { AgentRow } from '../contract/agent.ts';
import type { Store } from '../store/store.ts';
import { createKnownAgents } from './known-agents.ts';

const changed = { agents_changed: true };

/** A store with one agent, that counts its reads and can be made to answer late. */
const table = () => {
  const state = {
    agent: anAgent({ id: 'a', name: 'writer' }) as AgentRow | null,
    reads: 0,
    late: null as Promise<void> | null,
  };
  const read = async (_verb: string, { name }: { name: string }) => {
    state.reads++;
    const found = state.agent;
    await state.late;
    return found?.name === name ? { ...found } : null;
  };
  return { state, store: { read } as unknown as Store };
};

describe('known agents', () => {
  it('are read once until something changes them', async () => {
    const t = table();
    const { store, stir } = createKnownAgents(t.store, manualClock());
    const ask = () => store.read('agent_by_name', { name: 'writer' });
    expect((await ask())?.timeout_s).toBe(null);
    await ask();
    expect(t.state.reads).toBe(1);
    t.state.agent = anAgent({ id: 'a', name: 'writer', timeout_s: 5 });
    stir(changed);
    expect((await ask())?.timeout_s).toBe(5);
    t.state.agent = null;
    stir(changed);
    expect(await ask()).toBe(null);
  });

  it('that another server changed are seen after five seconds', async () => {
    const t = table();
    const clock = manualClock();
    const { store } = createKnownAgents(t.store, clock);
    const ask = () => store.read('agent_by_name', { name: 'writer' });
    await ask();
    t.state.agent = null;
    await clock.advance(4_999);
    expect(await ask()).not.toBe(null);
    await clock.advance(1);
    expect(await ask()).toBe(null);
  });

  it('what was read before a change is not kept after it', async () => {
    const t = table();
    const { store, stir } = createKnownAgents(t.store, manualClock());
    const ask = () => store.read('agent_by_name', { name: 'writer' });
    let answer = () => {};
    t.state.late = new Promise((resolve) => {
      answer = resolve;
    });
    const early = ask();
    t.state.agent = anAgent({ id: 'a', name: 'writer', timeout_s: 5 });
    stir(changed);
    answer();
    await early;
    expect((await ask())?.timeout_s).toBe(5);
  });

  it('that do not exist are asked for each time', async () => {
    const t = table();
    const { store } = createKnownAgents(t.store, manualClock());
    await store.read('agent_by_name', { name: 'nobody' });
    await store.read('agent_by_name', { name: 'nobody' });
    expect(t.state.reads).toBe(2);
  });
});
