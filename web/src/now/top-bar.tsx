/** The top of the page: the state of the fleet in one line, pause and resume, the line to the server, theme, sign out. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { UserBody } from '../../../src/client/wire.ts';
import { api, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import type { LineState } from '../live/live.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { useMayEdit } from '../parts/may-edit.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { Icon } from '../parts/text.tsx';
import { themes, useTheme } from '../theme.ts';
import { count } from '../words/times.ts';
import { useLimits } from './data.ts';

const lineWords = { connecting: 'Connecting', up: 'Live', down: 'Reconnecting' } as const;

const LineMark = ({ line }: { line: LineState }) => (
  <span className="line-state" data-state={line.kind} role="status" title={line.kind === 'down' ? line.why : undefined}>
    {lineWords[line.kind]}
  </span>
);

const PauseButton = () => {
  const queries = useQueryClient();
  const { data: limits } = useLimits();
  const paused = limits?.paused ?? false;
  const turn = useMutation({
    mutationFn: () => write(() => (paused ? api.resume() : api.pause())),
    onSuccess: () => {
      say(paused ? 'The fleet goes on.' : 'The fleet is paused. What runs goes on to its end.');
      void queries.invalidateQueries({ queryKey: keys.limits });
      void queries.invalidateQueries({ queryKey: keys.queued });
    },
    onError: sayProblem,
  });
  if (limits === undefined) return null;
  return (
    <ConfirmButton
      className={paused ? 'main' : undefined}
      disabled={turn.isPending}
      label={
        <>
          <Icon name={paused ? 'play' : 'pause'} />
          {paused ? 'Resume' : 'Pause'}
          <span className="hidden-label"> the fleet</span>
        </>
      }
      title={paused ? 'Resume the fleet?' : 'Pause the fleet?'}
      about={
        <p>
          {paused
            ? `Waiting work starts at once, as far as the limits allow: ${count(limits.queued)} wait.`
            : `No new work starts. The ${count(limits.running + limits.waiting)} that run go on to their end, with the calls they make; new requests are taken and wait.`}
        </p>
      }
      action={paused ? 'Resume' : 'Pause'}
      onConfirm={() => turn.mutate()}
    />
  );
};

const themeIcons = { system: 'system', light: 'sun', dark: 'moon' } as const;

const ThemeButton = () => {
  const [theme, setTheme] = useTheme();
  const next = themes[(themes.indexOf(theme) + 1) % themes.length]!;
  return (
    <button type="button" className="quiet" onClick={() => setTheme(next)} title={`Theme: ${theme}`}>
      <Icon name={themeIcons[theme]} />
      <span className="hidden-label">
        Theme: {theme}. Change to {next}
      </span>
    </button>
  );
};

export const TopBar = ({ me, line }: { me: UserBody; line: LineState }) => {
  const queries = useQueryClient();
  const { data: limits } = useLimits();
  const inTab =
    limits === undefined ? '' : limits.paused ? 'paused' : `${limits.running} running, ${limits.queued} waiting`;
  useEffect(() => {
    document.title = inTab === '' ? 'Drover' : `${inTab} · Drover`;
  }, [inTab]);
  const leave = useMutation({
    mutationFn: () => write(() => api.logout()),
    onSuccess: () => {
      queries.clear();
      location.reload();
    },
    onError: sayProblem,
  });
  return (
    <header className="top">
      <h1>
        <img src="/icon.svg" alt="" />
        Drover
      </h1>
      {limits !== undefined && (
        <p className="fleet-line">
          {limits.paused && <span className="chip flag">paused</span>}
          <span>
            <b>{count(limits.running)}</b> of {count(limits.agent_call_limit)} running
          </span>
          {limits.waiting > 0 && (
            <span>
              <b>{count(limits.waiting)}</b> in calls
            </span>
          )}
          <span>
            <b>{count(limits.queued)}</b> waiting
          </span>
        </p>
      )}
      <div className="actions">
        <LineMark line={line} />
        {useMayEdit() && <PauseButton />}
        <ThemeButton />
        <button type="button" className="quiet" onClick={() => leave.mutate()} title={`Signed in as ${me.username}`}>
          Sign out
        </button>
      </div>
    </header>
  );
};
