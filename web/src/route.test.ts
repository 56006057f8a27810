import { describe, expect, it } from 'vitest';
import { executionHref, executionOf } from './route.ts';

describe('addresses', () => {
  it('name one execution, whatever its id holds', () => {
    for (const id of ['01h2', 'a b/c', '%', '#?']) expect(executionOf(executionHref(id))).toBe(id);
  });

  it('are the page alone when they name nothing that can be read', () => {
    for (const hash of ['', '#/', '#/executions/', '#/executions/a/b', '#/executions/%E0%A4%A'])
      expect(executionOf(hash)).toBeNull();
  });
});
