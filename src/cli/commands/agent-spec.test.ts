import { describe, expect, it } from 'vitest';
import { patchOf } from './agent-spec.ts';

const present = { env: { A: '1', B: '2' }, resources: { cpu: 2, memory_bytes: 402_653_184 } };
const patch = (flags: Parameters<typeof patchOf>[0], clear: string[] = []) =>
  patchOf(flags, clear, [], '/here', present);

describe('what `agent set` sends', () => {
  it('is only what was named', () => {
    expect(patch({ model: 'opus' })).toEqual({ model: 'opus' });
    expect(patch({}, ['model', 'max-parallel'])).toEqual({ model: null, max_parallel_tasks: null });
  });

  it('keeps the other half of resources, and the rest of env', () => {
    expect(patch({ memory: '1g' })).toEqual({ resources: { memory: '1g', cpu: 2 } });
    expect(patch({}, ['memory'])).toEqual({ resources: { cpu: 2 } });
    expect(patch({ cpu: '1' })).toEqual({ resources: { memory: '402653184', cpu: '1' } });
    expect(patch({ env: ['B=3', 'C=4'] })).toEqual({ env: { A: '1', B: '3', C: '4' } });
    expect(patch({ env: ['C=4'] }, ['env'])).toEqual({ env: { C: '4' } });
  });

  it('refuses to clear what has no default', () => {
    expect(() => patch({}, ['name'])).toThrow('--clear knows no "name"');
  });
});
