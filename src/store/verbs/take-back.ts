/** All or nothing for a verb of several steps: a refusal in the midst takes back what the steps before it have written. */
import { isRefusal, type Refusal } from '../../contract/errors.ts';
import type { Tx } from '../tx.ts';

export const orTakeBack = async <T>(tx: Tx, work: () => Promise<T | Refusal>): Promise<T | Refusal> => {
  let no: Refusal | null = null;
  const done = await tx.alone(async () => {
    const result = await work();
    if (!isRefusal(result)) return result as T;
    no = result;
    throw new Error(result.message);
  });
  if (done.ok) return done.value;
  if (no !== null) return no;
  throw done.error;
};
