/** Copies of the store: made while work goes on and verified. What a copy lacks is said where it is made. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { backupLacks } from '../../../src/contract/backup-words.ts';
import { api, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { Command } from '../parts/command.tsx';
import { say, sayProblem } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { Ago, Plain } from '../parts/text.tsx';
import { bytes, plural } from '../words/times.ts';
import { useBackups } from './data.ts';

export const BackupSection = () => {
  const queries = useQueryClient();
  const { data, error } = useBackups();
  const make = useMutation({
    mutationFn: () => write(() => api.makeBackup(null)),
    onSuccess: (b) => say(`Copied and verified: ${b.path}`),
    onError: sayProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: keys.backups }),
  });
  return (
    <Section
      title="Backups"
      count={data?.count}
      error={error}
      none={data?.count === 0 ? 'None yet.' : undefined}
      more={
        <button type="button" className="small" disabled={make.isPending} onClick={() => make.mutate()}>
          {make.isPending ? 'Copying…' : 'Back up now'}
        </button>
      }
    >
      <ul>
        {data?.backups.slice(0, 10).map((b) => (
          <li key={b.id} className="entry">
            <span className="name font-normal">
              <Ago at={b.created_at} />
            </span>
            <span className="about">
              {bytes(b.files.reduce((n, f) => n + f.bytes, 0))}, {plural(b.executions.total, 'execution')} ·{' '}
              <Plain text={b.path} />
            </span>
          </li>
        ))}
      </ul>
      <details className="fold">
        <summary>What a copy does not hold, and the way back</summary>
        <div className="grid gap-2 px-[14px] pb-3 text-ink-2">
          <ul className="list-disc pl-5">
            {backupLacks.map((lack) => (
              <li key={lack}>{lack}</li>
            ))}
          </ul>
          <p>Each night, by cron; and with the server stopped, back again:</p>
          <Command text="drover backup --keep 14" />
          <Command text={`drover restore ${data?.backups[0]?.path ?? 'DIRECTORY'}`} />
        </div>
      </details>
    </Section>
  );
};
