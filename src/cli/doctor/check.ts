/** One finding of the doctor. A `problem` makes it exit 1; a `note` is worth knowing and harms nothing. */
export interface Check {
  name: string;
  state: 'ok' | 'note' | 'problem';
  found: string;
  /** What to do; null when nothing. */
  todo: string | null;
}

export const ok = (name: string, found: string): Check => ({ name, state: 'ok', found, todo: null });
export const note = (name: string, found: string, todo: string | null = null): Check => ({
  name,
  state: 'note',
  found,
  todo,
});
export const problem = (name: string, found: string, todo: string): Check => ({ name, state: 'problem', found, todo });
