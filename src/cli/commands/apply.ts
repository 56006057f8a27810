/** `drover apply FILE` and `drover export`: the plan and what came of it; the doing is the server's. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Context, printJson } from '../context.ts';
import type { ExitName } from '../exit-codes.ts';
import { usage } from '../failure.ts';

interface StepBody {
  kind: string;
  name: string;
  action: string;
  fields: string[];
}
interface AppliedBody {
  plan: StepBody[];
  result: (StepBody & { ok: boolean; error: string | null })[] | null;
}

const read = async (context: Context, file: string): Promise<string> => {
  if (file === '-') return text(context.terminal.stdin as AsyncIterable<Buffer>);
  try {
    return readFileSync(resolve(context.cwd, file), 'utf8');
  } catch (e) {
    const { code } = e as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw usage(`There is no file ${file}.`);
    throw usage(code === 'EISDIR' ? `${file} is a directory, not a manifest.` : `${file} cannot be read (${code}).`);
  }
};

export const apply = async (context: Context, o: { dryRun?: boolean }, [file]: string[]): Promise<ExitName> => {
  const { terminal } = context;
  const manifest = await read(context, file!);
  const { body } = await context.connection().api.request<AppliedBody>('/api/apply', {
    method: 'POST',
    json: { manifest, dry_run: o.dryRun === true },
  });
  const failed = body.result?.some((r) => !r.ok) === true;
  if (context.json) printJson(context, body);
  else
    for (const s of body.result ?? body.plan) {
      const error = 'error' in s && s.error !== null ? `: ${String(s.error)}` : '';
      terminal.out(
        `${s.action.padEnd(10)} ${s.kind} ${s.name}${s.action === 'change' ? ` (${s.fields.join(', ')})` : ''}${error}\n`,
      );
    }
  if (!context.json && body.result?.length === 0) terminal.out('Nothing to do: the fleet is as the manifest says.\n');
  return failed ? 'failed' : 'ok';
};

export const exportFleet = async (context: Context): Promise<ExitName> => {
  const { body } = await context
    .connection()
    .api.request<unknown>('/api/export', { query: { format: context.json ? 'json' : 'yaml' } });
  if (context.json) printJson(context, body);
  else context.terminal.out(String(body));
  return 'ok';
};
