/** What the list shows, as the address says it: a filtered list can be sent to a colleague, and Back undoes a filter. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { memo, useEffect, useRef, useState } from 'react';
import { causes } from '../../../src/contract/causes.ts';
import { useAgents } from '../now/data.ts';
import { triggerWords } from '../words/states.ts';
import type { RunFilters } from './use-run-list.ts';

const states: [string, string][] = [
  ['', 'All'],
  ['queued', 'Waiting'],
  ['running,waiting', 'Running'],
  ['failed', 'Failed'],
  ['success', 'Success'],
  ['cancelled,skipped', 'Cancelled'],
];

const names = ['status', 'agent', 'cause', 'triggered_by', 'search'] as const;

/** Only what is known of the address; anything else in it is passed over. */
export const useFilters = (): [RunFilters, (change: RunFilters) => void] => {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const go = useNavigate();
  const filters: RunFilters = {};
  for (const name of names) {
    const value = search[name];
    if ((typeof value === 'string' || typeof value === 'number') && `${value}` !== '') filters[name] = `${value}`;
  }
  const change = (patch: RunFilters) => {
    const next: Record<string, string> = {};
    for (const [name, value] of Object.entries({ ...filters, ...patch })) if (value) next[name] = value;
    void go({ to: '.', search: next, replace: patch.search !== undefined, resetScroll: true });
  };
  return [filters, change];
};

/** A key press every 100 ms is one search, not ten. */
const settledMs = 250;

const Search = ({ value, onChange }: { value: string; onChange: (text: string) => void }) => {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    // The address changed by itself (Back, a cleared filter).
    if (value !== sent.current) {
      sent.current = value;
      setText(value);
    }
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      onChange(text);
    }, settledMs);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  return (
    <input
      type="search"
      className="w-full md:w-64"
      aria-label="Find in messages, or an id"
      placeholder="Find in messages, or an id"
      data-find=""
      value={text}
      onChange={(e) => setText(e.target.value)}
    />
  );
};

/** A thousand of them are made once, not at each change of the page. */
const AgentOptions = memo(({ names }: { names: string }) =>
  names.split('\n').map((name) => <option key={name}>{name}</option>),
);

export const Filters = ({
  filters,
  change,
  agent = true,
}: {
  filters: RunFilters;
  change: (f: RunFilters) => void;
  agent?: boolean;
}) => {
  const agents = useAgents();
  const agentNames = (agents.data ?? []).map((a) => a.name).sort((a, b) => a.localeCompare(b));
  const known = Object.entries(causes).filter(([name]) => name !== 'success');
  return (
    <search className="filters">
      <fieldset className="segments">
        <legend className="hidden-label">State</legend>
        {states.map(([value, label]) => (
          <button
            key={value}
            type="button"
            aria-pressed={(filters.status ?? '') === value}
            onClick={() => change({ status: value })}
          >
            {label}
          </button>
        ))}
      </fieldset>
      <Search value={filters.search ?? ''} onChange={(search) => change({ search })} />
      {agent && (
        <select aria-label="Agent" value={filters.agent ?? ''} onChange={(e) => change({ agent: e.target.value })}>
          <option value="">Every agent</option>
          <AgentOptions names={agentNames.join('\n')} />
        </select>
      )}
      <select aria-label="Cause" value={filters.cause ?? ''} onChange={(e) => change({ cause: e.target.value })}>
        <option value="">Every cause</option>
        {known.map(([name, row]) => (
          <option key={name} value={name}>
            {row.title}
          </option>
        ))}
      </select>
      <select
        aria-label="Started by"
        value={filters.triggered_by ?? ''}
        onChange={(e) => change({ triggered_by: e.target.value })}
      >
        <option value="">Started by anything</option>
        {Object.entries(triggerWords).map(([name, word]) => (
          <option key={name} value={name}>
            by {word}
          </option>
        ))}
      </select>
    </search>
  );
};
