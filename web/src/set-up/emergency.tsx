/** Everything at once: hold what is new, or also end what runs. The queue is kept either way. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, write } from '../api.ts';
import { keys } from '../live/keys.ts';
import { useLimits } from '../now/data.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { say, sayProblem } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { plural } from '../words/times.ts';
import { put } from './data.ts';

export const EmergencySection = () => {
  const queries = useQueryClient();
  const { data } = useLimits();
  const stale = () => queries.invalidateQueries({ queryKey: keys.limits });
  const pause = useMutation({
    mutationFn: (on: boolean) => write(() => (on ? api.pause() : api.resume())),
    onSuccess: ({ paused }) => say(paused ? 'Nothing new starts; what runs goes on.' : 'The fleet goes on.'),
    onError: sayProblem,
    onSettled: stale,
  });
  const stop = useMutation({
    mutationFn: () => write(() => put<{ message: string }>('POST', '/api/ops/emergency-stop', {})),
    onSuccess: ({ message }) => say(message, 'bad'),
    onError: sayProblem,
    onSettled: stale,
  });
  const live = (data?.running ?? 0) + (data?.waiting ?? 0);
  return (
    <Section title="In an emergency">
      <div className="grid gap-3 px-[14px] pb-[14px]">
        <p className="text-ink-2">Hold new work and look at leisure: what runs goes on, and may make its calls.</p>
        <button
          type="button"
          disabled={pause.isPending || data === undefined}
          onClick={() => pause.mutate(!data?.paused)}
        >
          {data?.paused ? 'Let the fleet go on' : 'Pause the fleet'}
        </button>
        <p className="text-ink-2">Or end everything that runs, hold schedules, and keep the queue:</p>
        <ConfirmButton
          className="danger"
          disabled={stop.isPending}
          label="Emergency stop"
          title="End everything that runs?"
          about={
            <p>
              {plural(live, 'execution')} will be ended now; the work done by then is kept. Nothing new starts and
              schedules are held until you let both go on.
            </p>
          }
          action="End everything"
          danger
          onConfirm={() => stop.mutate()}
        />
      </div>
    </Section>
  );
};
