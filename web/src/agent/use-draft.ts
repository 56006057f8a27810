/** A form over stored values: what a person has typed stands until it is saved or put back, whatever is read meanwhile. */
import { useState } from 'react';

export const useDraft = <T extends Record<string, string>>(stored: T) => {
  const [typed, setTyped] = useState<Partial<T>>({});
  const draft: T = { ...stored, ...typed };
  const changed = (Object.keys(stored) as (keyof T)[]).filter((k) => draft[k] !== stored[k]);
  return {
    draft,
    changed,
    set: (patch: Partial<T>) => setTyped({ ...typed, ...patch }),
    reset: () => setTyped({}),
  };
};
