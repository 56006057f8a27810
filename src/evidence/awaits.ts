/**
 * What a run waits for at a moment, read from its stream as it goes: the first event, the model, a tool of some kind. The
 * runner measures silence against it (contract/limits.ts, `stallLimits`). Tools are told apart by the names their CLI gives
 * them; a name that no CLI owns belongs to a server of somebody else and gets the most patient limit. It stops nothing.
 */
import { type StallKind, stallLimits } from '../contract/limits.ts';
import type { OpenTool } from './open-tools.ts';

export interface Awaits {
  kind: StallKind;
  /** What the transcript calls the tool; null when it is no tool. */
  tool: string | null;
}

export const firstEvent: Awaits = { kind: 'start', tool: null };
export const plainOutput: Awaits = { kind: 'output', tool: null };

/** Claude Code 2.1.332, codex-cli 0.171, gemini-cli 0.61: their own tools, as `system/init`, items and `tool_use` name them. */
const own: Partial<Record<StallKind, readonly string[]>> = {
  shell: ['Bash', 'PowerShell', 'BashOutput', 'Monitor', 'command_execution', 'run_shell_command'],
  web: ['WebFetch', 'WebSearch', 'web_search', 'web_fetch', 'google_web_search'],
  subagent: ['Task', 'Agent', 'collab_tool_call', 'codebase_investigator', 'generalist', 'cli_help', 'browser_agent'],
  tool: [
    ...['Read', 'Edit', 'MultiEdit', 'Write', 'Glob', 'Grep', 'LS', 'NotebookEdit', 'NotebookRead', 'TodoWrite'],
    ...['Skill', 'ToolSearch', 'EnterWorktree', 'ExitWorktree', 'EnterPlanMode', 'ExitPlanMode', 'ReportFindings'],
    ...['TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate', 'TaskStop', 'TaskOutput', 'KillShell', 'SendMessage', 'LSP'],
    ...['file_change', 'todo_list'],
    ...['read_file', 'read_many_files', 'write_file', 'replace', 'glob', 'search_file_content', 'grep_search'],
    ...['list_directory', 'save_memory', 'write_todos', 'activate_skill', 'get_internal_docs'],
  ],
};
const kinds = new Map(Object.entries(own).flatMap(([kind, names]) => names.map((n) => [n, kind as StallKind])));

export const toolKind = (name: string): StallKind => kinds.get(name) ?? 'mcp';

/** Codex names the kind of a call, and its tool beside it. */
const nameOf = (tool: OpenTool): string =>
  tool.name === 'mcp_tool_call' && tool.input !== null ? `${tool.name} ${tool.input.slice(0, 100)}` : tool.name;

const patience = (kind: StallKind): number => stallLimits[kind].seconds ?? Number.POSITIVE_INFINITY;
const longest = (all: Awaits[]): Awaits => all.reduce((a, b) => (patience(b.kind) > patience(a.kind) ? b : a));

/**
 * Of several open calls the most patient limit holds. `within`: calls of sub-agents that are seen; beside them another
 * sub-agent may be thinking, so the limit of the model is the least that holds then.
 */
export const awaitsOf = (open: readonly OpenTool[], within: readonly OpenTool[] = []): Awaits => {
  const told = (tools: readonly OpenTool[]) => tools.map((t): Awaits => ({ kind: toolKind(t.name), tool: nameOf(t) }));
  const model: Awaits = { kind: 'model', tool: null };
  if (within.length === 0) return open.length === 0 ? model : longest(told(open));
  const seen = longest(told([...open.filter((t) => toolKind(t.name) !== 'subagent'), ...within]));
  return patience(seen.kind) < patience('model') ? { ...seen, kind: 'model' } : seen;
};
