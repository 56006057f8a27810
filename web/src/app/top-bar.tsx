/** The top of every page: the state of the fleet in one line, the line to the server, the palette, pause and resume, the person. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import type { LineState } from '../live/live.ts';
import { useLimits } from '../now/data.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Icon } from '../parts/icon.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { count } from '../words/times.ts';
import { UserMenu } from './user-menu.tsx';

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

/** Opens the palette; shows its key to who has a keyboard. */
const FindButton = ({ onFind }: { onFind: () => void }) => (
  <button type="button" className="find" onClick={onFind}>
    <Icon name="search" />
    <span className="wide-only">Go to, find, do…</span>
    <span className="hidden-label">Command palette</span>
    <kbd className="wide-only">{/mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'}</kbd>
  </button>
);

export const TopBar = (props: { line: LineState; onFind: () => void; onKeys: () => void; onZone: () => void }) => {
  const { data: limits } = useLimits();
  return (
    <header className="top">
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
        <LineMark line={props.line} />
        <FindButton onFind={props.onFind} />
        {useMayEdit() && <PauseButton />}
        <UserMenu onKeys={props.onKeys} onZone={props.onZone} />
      </div>
    </header>
  );
};
