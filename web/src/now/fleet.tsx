/** Fleet limits and occupancy: how much of each cap is in use, where the limit comes from, and a new value for it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { limits as table } from '../../../src/contract/limits.ts';
import { api, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { Occupancy } from '../parts/text.tsx';
import { count, plural, span } from '../words/times.ts';
import { useConnectedRunners, useLimits } from './data.ts';

const sources = { setting: 'set by hand', environment: 'from the environment', default: 'default' } as const;

interface Editing {
  label: string;
  value: number;
  min: number;
  most: number;
  /** What is set, and what is said when it is. */
  put: (value: number) => Parameters<typeof api.setLimits>[0];
  said: (value: number) => string;
}

const EditLimit = ({ of, onDone }: { of: Editing; onDone: () => void }) => {
  const queries = useQueryClient();
  const [text, setText] = useState(String(of.value));
  const field = useId();
  const value = Number(text);
  const good = /^\d+$/.test(text.trim()) && value >= of.min && value <= of.most;
  const set = useMutation({
    mutationFn: () => write(() => api.setLimits(of.put(value))),
    onSuccess: () => {
      say(of.said(value));
      void queries.invalidateQueries({ queryKey: keys.limits });
      onDone();
    },
    onError: sayProblem,
  });
  return (
    <form
      className="edit-limit"
      onSubmit={(e) => {
        e.preventDefault();
        if (good) set.mutate();
      }}
      onKeyDown={(e) => {
        if (e.key === 'Escape') onDone();
      }}
    >
      <label className="hidden-label" htmlFor={field}>
        {of.label}, {of.min} to {of.most}
      </label>
      <input
        id={field}
        inputMode="numeric"
        value={text}
        // biome-ignore lint/a11y/noAutofocus: the field replaces the button that was just pressed
        autoFocus
        aria-invalid={!good}
        onChange={(e) => setText(e.target.value)}
      />
      <button type="submit" className="small main" disabled={!good || set.isPending}>
        Set
      </button>
      <button type="button" className="small quiet" onClick={onDone}>
        Back
      </button>
    </form>
  );
};

export const Fleet = () => {
  const mayEdit = useMayEdit();
  const { data: limits, error } = useLimits();
  const runners = useConnectedRunners();
  const [editing, setEditing] = useState<'cap' | 'wait' | null>(null);
  if (limits === undefined) return <Section title="Fleet" error={error} />;
  return (
    <Section
      title="Fleet"
      error={error}
      more={runners === null ? undefined : `${plural(runners.length, 'runner')} connected`}
    >
      <div className="gauge fleet">
        <span className="name">Running</span>
        {editing === 'cap' ? (
          <EditLimit
            of={{
              label: 'Running at once in the fleet',
              value: limits.agent_call_limit,
              min: table.agentCallLimit.min,
              most: limits.ceiling,
              put: (value) => ({ agent_call_limit: value }),
              said: (value) =>
                `The fleet limit is ${value}. It holds from the next claim on; nothing that runs is stopped.`,
            }}
            onDone={() => setEditing(null)}
          />
        ) : (
          <span className="figure">
            <b>{count(limits.running)}</b> of {count(limits.agent_call_limit)}
            {mayEdit && (
              <button type="button" className="quiet small" onClick={() => setEditing('cap')}>
                Change<span className="hidden-label"> the fleet limit</span>
              </button>
            )}
          </span>
        )}
        <Occupancy used={limits.running} most={limits.agent_call_limit} label="Running in the fleet" />
        <div className="foot">
          <span>limit: {sources[limits.agent_call_limit_source] ?? limits.agent_call_limit_source}</span>
          {editing === 'wait' ? (
            <EditLimit
              of={{
                label: 'Seconds that a call waits at most (0: for ever)',
                value: limits.queue_timeout_s,
                min: table.queueTimeoutS.min,
                most: table.queueTimeoutS.max,
                put: (value) => ({ queue_timeout_s: value }),
                said: (value) => (value === 0 ? 'Calls wait for ever.' : `Calls wait at most ${span(value * 1000)}.`),
              }}
              onDone={() => setEditing(null)}
            />
          ) : (
            <span>
              waits at most {limits.queue_timeout_s === 0 ? 'for ever' : span(limits.queue_timeout_s * 1000)}
              {mayEdit && (
                <button type="button" className="quiet small" onClick={() => setEditing('wait')}>
                  Change<span className="hidden-label"> how long calls wait</span>
                </button>
              )}
            </span>
          )}
        </div>
        {runners?.some((r) => r.isolation === 'none') && (
          <p className="foot">Agents run without isolation: as the user of the runner, with all that user may do.</p>
        )}
      </div>
    </Section>
  );
};
