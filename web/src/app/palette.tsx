/**
 * The command palette: pages, agents, executions by their message or id, and what can be done from anywhere. It is loaded when it
 * is first opened. What is typed is matched here, not by the list: a thousand agents are never a thousand nodes.
 */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { useState } from 'react';
import { api } from '../api.ts';
import { keys } from '../live/keys.ts';
import { useAgents } from '../now/data.ts';
import { Icon } from '../parts/icon.tsx';
import { Modal } from '../parts/modal.tsx';
import { Mark, Plain } from '../parts/text.tsx';
import { themes, useTheme } from '../theme.ts';
import { headOf } from '../words/plain.ts';
import { pages } from './pages.ts';

const shownAgents = 6;
const shownRuns = 6;
/** Fewer letters find everything. */
const searchFrom = 2;

export const Palette = ({
  onClose,
  onKeys,
  onZone,
}: {
  onClose: () => void;
  onKeys: () => void;
  onZone: () => void;
}) => {
  const go = useNavigate();
  const [text, setText] = useState('');
  const [, setTheme] = useTheme();
  const agents = useAgents();
  const wanted = text.trim().toLowerCase();
  const runs = useQuery({
    queryKey: [...keys.runLists, 'palette', wanted],
    queryFn: ({ signal }) => api.executions({ search: wanted, limit: shownRuns }, signal),
    enabled: wanted.length >= searchFrom,
    placeholderData: (before) => before,
  });
  const like = (words: string) => wanted === '' || words.toLowerCase().includes(wanted);
  const then = (act: () => unknown) => () => {
    onClose();
    void act();
  };
  const found = {
    pages: pages.filter((p) => p.nav !== null && like(p.nav.label)),
    agents: wanted === '' ? [] : (agents.data ?? []).filter((a) => like(a.name)).slice(0, shownAgents),
    runs: wanted.length >= searchFrom ? (runs.data?.executions ?? []).slice(0, shownRuns) : [],
    acts: [
      ...themes.map((t) => ({ words: `Theme: ${t === 'system' ? 'as the system' : t}`, act: () => setTheme(t) })),
      { words: 'Time zone…', act: onZone },
      { words: 'Keys', act: onKeys },
    ].filter((a) => like(a.words)),
  };
  return (
    <Modal title="Command palette" hideTitle className="palette" onClose={onClose}>
      <Command shouldFilter={false} label="Command palette" loop>
        <Command.Input
          value={text}
          onValueChange={setText}
          placeholder="A page, an agent, part of a message, an id…"
          autoFocus
        />
        <Command.List>
          <Command.Empty>Nothing is called that.</Command.Empty>
          {found.pages.length > 0 && (
            <Command.Group heading="Go to">
              {found.pages.map((p) => (
                <Command.Item key={p.path} value={`page ${p.path}`} onSelect={then(() => go({ to: p.path }))}>
                  <Icon name={p.nav!.icon} />
                  <span>{p.nav!.label}</span>
                  <span className="hint">
                    <kbd>g</kbd> <kbd>{p.nav!.key}</kbd>
                  </span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          {found.agents.length > 0 && (
            <Command.Group heading="Agents">
              {found.agents.map((a) => (
                <Command.Item
                  key={a.name}
                  value={`agent ${a.name}`}
                  onSelect={then(() => go({ to: '/agents/$name', params: { name: a.name } }))}
                >
                  <Icon name="agents" />
                  <span>{a.name}</span>
                  <span className="hint">{a.model ?? a.adapter}</span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          {found.runs.length > 0 && (
            <Command.Group heading="Executions">
              {found.runs.map((row) => (
                <Command.Item
                  key={row.id}
                  value={`run ${row.id}`}
                  onSelect={then(() => go({ to: '/executions/$id', params: { id: row.id } }))}
                >
                  <Mark status={row.status} />
                  <span className="min-w-0 truncate">
                    <Plain text={headOf(row.message, 120) || '(empty message)'} />
                  </span>
                  <span className="hint">{row.agent_name}</span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          {found.acts.length > 0 && (
            <Command.Group heading="Do">
              {found.acts.map((a) => (
                <Command.Item key={a.words} value={a.words} onSelect={then(a.act)}>
                  <Icon name="play" />
                  <span>{a.words}</span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </Modal>
  );
};
