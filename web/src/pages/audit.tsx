/** Who did what: every change by a person or a key, newest first, by person and kind, and as a file. For owners. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { inWords } from '../api.ts';
import { keys } from '../live/keys.ts';
import { PageHead } from '../parts/page-head.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Plain } from '../parts/text.tsx';
import { VirtualRows } from '../parts/virtual-rows.tsx';
import { type AuditRow, readAudit, usePeople } from '../set-up/data.ts';

/** Kinds of what can be changed: the first word of an action. */
const nouns = [
  'agent',
  'backup',
  'budget',
  'credential',
  'execution',
  'fleet',
  'invite',
  'key',
  'runner',
  'schedule',
  'session',
  'setting',
  'user',
  'webhook',
];

const detailOf = (data: AuditRow['data']): string =>
  Object.entries(data)
    .filter(([, v]) => v !== null && v !== undefined)
    .map(([k, v]) => `${k.replaceAll('_', ' ')}: ${typeof v === 'object' ? JSON.stringify(v) : String(v)}`)
    .join(' · ');

const Row = ({ row }: { row: AuditRow }) => (
  <div className="entry">
    <span className="name">
      <Plain text={row.by_name ?? row.by} />
    </span>
    <span className="about truncate">
      <span className="chip mono">{row.action}</span> <Plain text={row.target} />{' '}
      <span className="text-ink-3">
        <Plain text={detailOf(row.data)} />
      </span>
    </span>
    <span className="time">
      <Ago at={row.at} />
    </span>
    <span className="act" />
  </div>
);

export const Page = () => {
  const [by, setBy] = useState('');
  const [action, setAction] = useState('');
  const people = usePeople();
  const list = useInfiniteQuery({
    queryKey: [...keys.audit, by, action],
    queryFn: ({ pageParam }) => readAudit(pageParam, by, action),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (page.length < 100 ? undefined : page.at(-1)?.id),
  });
  const rows = list.data?.pages.flat();
  const query = new URLSearchParams({ ...(by !== '' && { by }), ...(action !== '' && { action }) });
  return (
    <>
      <PageHead
        title="Audit"
        sub="every change by a person or a key; no secret stands in it"
        actions={
          <>
            <a className="button quiet" href={`/api/audit/export?${query}&format=csv`} download="">
              CSV
            </a>
            <a className="button quiet" href={`/api/audit/export?${query}&format=json`} download="">
              JSON lines
            </a>
          </>
        }
      />
      <search className="filters">
        <select aria-label="By whom" value={by} onChange={(e) => setBy(e.target.value)}>
          <option value="">by anybody</option>
          {people.data?.map((p) => (
            <option key={p.id} value={p.username}>
              {p.username}
            </option>
          ))}
        </select>
        <select aria-label="What was changed" value={action} onChange={(e) => setAction(e.target.value)}>
          <option value="">any change</option>
          {nouns.map((noun) => (
            <option key={noun} value={noun}>
              {noun}
            </option>
          ))}
        </select>
      </search>
      <section className="section" aria-label="Changes">
        {list.error !== null && (
          <p className="problem pt-3" role="alert">
            {inWords(list.error)}
          </p>
        )}
        {rows === undefined && list.error === null && <Skeleton rows={10} />}
        {rows?.length === 0 && <div className="nothing">Nothing of this kind was changed by then.</div>}
        {rows !== undefined && rows.length > 0 && (
          <VirtualRows
            label="Changes, the newest first"
            rows={rows}
            keyOf={(r) => r.id}
            height={41}
            phoneHeight={84}
            onEnd={() => {
              if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
            }}
            render={(r) => <Row row={r} />}
          />
        )}
      </section>
    </>
  );
};
