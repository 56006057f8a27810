/**
 * The chat with an agent: its conversations at the side, the one that is chosen in full, the turn under way as it is written. A
 * turn is an execution like any other: each can be opened, and what is typed while one runs waits for it in its session.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useLayoutEffect, useRef, useState } from 'react';
import { api, inWords, write } from '../api.ts';
import { useRunList } from '../executions/use-run-list.ts';
import { keys } from '../live/keys.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Field } from '../parts/field.tsx';
import { RunLink } from '../parts/links.tsx';
import { useMayEdit } from '../parts/me.ts';
import { say, sayProblem } from '../parts/notices.tsx';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Mark, Plain } from '../parts/text.tsx';
import { idempotencyKey } from '../run/idempotency-key.ts';
import { headOf } from '../words/plain.ts';
import { cost, count, plural } from '../words/times.ts';
import { type AgentDetail, type ChatSession, clearChat, useChatSessions, useSaid } from './data.ts';
import { LiveTurn } from './live-turn.tsx';

const Sessions = (props: {
  agent: string;
  sessions: ChatSession[];
  chosen: string | null;
  onChoose: (id: string) => void;
}) => (
  <Section
    title="Conversations"
    count={props.sessions.length}
    more={useMayEdit() && props.sessions.some((s) => s.status === 'open') && <CloseButton agent={props.agent} />}
  >
    <ul>
      {props.sessions.slice(0, 30).map((s) => (
        <li key={s.session_id} className="gauge" data-chosen={s.session_id === props.chosen}>
          <button
            type="button"
            className="quiet small conversation"
            aria-pressed={s.session_id === props.chosen}
            onClick={() => s.session_id !== null && props.onChoose(s.session_id)}
          >
            <Plain text={headOf(s.title ?? (s.is_main ? 'The main one' : 'An older one'), 100)} />
          </button>
          <span className="figure">
            <Ago at={s.last_message_at} />
          </span>
          <div className="foot">
            {s.is_main && <span>main</span>}
            {s.status === 'cleared' && <span>closed</span>}
            <span>{plural(Math.ceil(s.message_count / 2), 'turn')}</span>
            {(s.total_cost ?? 0) > 0 && <span>{cost(s.total_cost)}</span>}
            {s.context_tokens !== null && (
              <span>
                context {count(s.context_tokens)} of {count(s.context_window)}
              </span>
            )}
          </div>
        </li>
      ))}
    </ul>
  </Section>
);

const CloseButton = ({ agent }: { agent: string }) => {
  const queries = useQueryClient();
  const close = useMutation({
    mutationFn: () => write(() => clearChat(agent)),
    onSuccess: () => {
      say(`The conversations of ${agent} are closed; the next message begins afresh.`);
      void queries.invalidateQueries({ queryKey: keys.ofAgents });
    },
    onError: sayProblem,
  });
  return (
    <ConfirmButton
      className="quiet small"
      disabled={close.isPending}
      label="Close all"
      title={`Close the conversations of ${agent}?`}
      about={<p>The next message begins afresh: {agent} will not know what was said. Nothing is deleted.</p>}
      action="Close all"
      onConfirm={() => close.mutate()}
    />
  );
};

/** What was asked and has no answer: it waits, runs, or ended without one. Said by the execution itself. */
const Unanswered = ({ id }: { id: string }) => (
  <RunLink id={id} className="link text-small">
    the execution
  </RunLink>
);

const Conversation = ({ agent, session }: { agent: string; session: string }) => {
  const said = useSaid(agent, session);
  const open = useRunList({ status: 'queued,running,waiting', agent });
  const end = useRef<HTMLDivElement>(null);
  const messages = said.data ?? [];
  const answered = new Set(messages.filter((m) => m.role === 'assistant').map((m) => m.execution_id));
  const live = new Map((open.data?.rows ?? []).map((row) => [row.id, row]));
  const length = messages.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves when a message comes
  useLayoutEffect(() => {
    end.current?.scrollIntoView({ block: 'nearest' });
  }, [length]);
  if (said.data === undefined) return said.error ? null : <Skeleton rows={6} />;
  return (
    <>
      {length === 0 && (
        <div className="nothing">Nothing was said here yet. What you write goes on in this session.</div>
      )}
      <ol className="chat">
        {messages.map((m) => {
          const row = live.get(m.execution_id);
          return (
            <li key={`${m.execution_id} ${m.role}`} data-by={m.role}>
              <div className="bubble">
                <Plain text={m.content} block />
              </div>
              <div className="foot">
                <Ago at={m.timestamp} />
                {(m.role === 'assistant' || !answered.has(m.execution_id)) && <Unanswered id={m.execution_id} />}
                {m.role === 'user' && row !== undefined && (
                  <>
                    <Mark status={row.status} /> {row.status === 'queued' ? 'waits for its turn' : 'at work'}
                  </>
                )}
                {m.role === 'user' && row === undefined && !answered.has(m.execution_id) && 'ended without an answer'}
              </div>
              {m.role === 'user' && row !== undefined && row.status !== 'queued' && <LiveTurn id={row.id} />}
            </li>
          );
        })}
      </ol>
      <div ref={end} />
    </>
  );
};

export const Tab = ({ agent }: { agent: AgentDetail }) => {
  const mayEdit = useMayEdit();
  const queries = useQueryClient();
  const go = useNavigate();
  const { session: named } = useSearch({ strict: false }) as { session?: string };
  const sessions = useChatSessions(agent.name);
  const known = sessions.data ?? [];
  const main = known.find((s) => s.is_main && s.status === 'open')?.session_id ?? null;
  const chosen = named ?? main;
  const [text, setText] = useState('');
  const choose = (id: string) => void go({ to: '.', search: { session: id }, resetScroll: false });
  const send = useMutation({
    mutationFn: () => {
      const key = idempotencyKey();
      return write(() =>
        api.chat(agent.name, { message: text, session: chosen ?? undefined }, { waitS: 0, idempotencyKey: key }),
      );
    },
    onSuccess: async ({ execution_id }) => {
      setText('');
      await queries.invalidateQueries({ queryKey: keys.ofAgents });
      const row = execution_id === null ? null : await api.execution(execution_id);
      if (row?.session_id && row.session_id !== chosen) choose(row.session_id);
      void queries.invalidateQueries({ queryKey: keys.runLists });
    },
  });
  return (
    <div className="columns">
      <div className="column">
        <section className="section chat-section" aria-label="Conversation">
          {chosen === null ? (
            <div className="nothing">
              {sessions.data === undefined
                ? 'Reading…'
                : known.length > 0
                  ? 'No conversation is open. What you write begins one.'
                  : `Nothing was said to ${agent.name} yet. Write to it below.`}
            </div>
          ) : (
            <Conversation agent={agent.name} session={chosen} />
          )}
          {mayEdit && (
            <form
              className="composer"
              onSubmit={(e) => {
                e.preventDefault();
                if (text.trim() !== '') send.mutate();
              }}
            >
              <Field label={`To ${agent.name}`} wrong={send.isError ? inWords(send.error) : undefined}>
                {(input) => (
                  <textarea
                    {...input}
                    rows={3}
                    dir="auto"
                    value={text}
                    onChange={(e) => setText(e.target.value)}
                    onKeyDown={(e) => {
                      if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) e.currentTarget.form?.requestSubmit();
                    }}
                  />
                )}
              </Field>
              <div className="form-end">
                <button type="submit" className="main" disabled={send.isPending || text.trim() === ''}>
                  Send
                </button>
                <span className="hint">Ctrl+Enter</span>
              </div>
            </form>
          )}
        </section>
      </div>
      <aside className="column" aria-label="Conversations">
        <Sessions agent={agent.name} sessions={known} chosen={chosen} onChoose={choose} />
      </aside>
    </div>
  );
};
