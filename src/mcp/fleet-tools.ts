/** Tools that look at the fleet or change it: each is a route by another name, with the rights of whoever asks. */
import { z } from 'zod';
import { adapters, permissionModes } from '../contract/agent.ts';
import { ExecutionStatus } from '../contract/execution.ts';
import { limits } from '../contract/limits.ts';
import { itemLimits, Severity } from '../contract/operator.ts';
import { scheduleLimits } from '../contract/schedule.ts';
import { said, type Tool, tool } from './tool.ts';

const agent_name = z.string().min(1).max(300).describe('Name of the agent');
const path = (name: string, rest = '') => `/api/agents/${encodeURIComponent(name)}${rest}`;

interface AgentBody {
  name: string;
  status: string;
  type: string | null;
  adapter: string;
  model: string | null;
  running: number;
  waiting: number;
  queued: number;
  max_parallel_tasks: number;
}
const short = (a: AgentBody) => ({
  name: a.name,
  status: a.status,
  type: a.type,
  adapter: a.adapter,
  model: a.model,
  running: a.running,
  waiting: a.waiting,
  queued: a.queued,
  max_parallel_tasks: a.max_parallel_tasks,
});

interface ListedExecution {
  id: string;
  agent_name: string;
  status: string;
  cause: string | null;
  message: string;
  queued_at: string;
  completed_at: string | null;
  duration_ms: number | null;
  cost: number | null;
  wait: unknown;
}
const listed = (e: ListedExecution) => ({
  execution_id: e.id,
  agent_name: e.agent_name,
  status: e.status,
  cause: e.cause,
  message: e.message.slice(0, 200),
  queued_at: e.queued_at,
  completed_at: e.completed_at,
  duration_ms: e.duration_ms,
  cost: e.cost,
  wait: e.wait,
});

export const fleetTools: readonly Tool[] = [
  tool({
    name: 'list_agents',
    description: 'The agents you can see, with their state and how much they have to do.',
    input: z.object({}),
    parallel: true,
    run: async (_, { ask }) => said(await ask('GET', '/api/agents'), (all: AgentBody[]) => all.map(short)),
  }),
  tool({
    name: 'get_agent',
    description: 'One agent with its limits, settings and health.',
    input: z.object({ agent_name }),
    parallel: true,
    run: async (i, { ask }) => said(await ask('GET', path(i.agent_name))),
  }),
  tool({
    name: 'create_agent',
    description: 'Make an agent. It accepts work at once. Only for people who operate the fleet.',
    input: z.object({
      name: z.string().min(1).max(200),
      adapter: z.enum(adapters).optional(),
      model: z.string().max(200).optional(),
      workspace: z.string().max(4096).optional().describe('A directory; left out: one of its own'),
      command: z.array(z.string()).min(1).optional().describe('Adapter "command": argv'),
      custom_instructions: z.string().max(100_000).optional(),
      permission_mode: z.enum(permissionModes).optional(),
      max_parallel_tasks: z.number().int().min(1).max(limits.maxParallelTasks.max).optional(),
    }),
    run: async (i, { ask }) => said(await ask('POST', '/api/agents', i)),
  }),
  tool({
    name: 'start_agent',
    description: 'Let an agent accept work. Only for people who operate the fleet.',
    input: z.object({ agent_name }),
    run: async (i, { ask }) => said(await ask('POST', path(i.agent_name, '/start'), {})),
  }),
  tool({
    name: 'stop_agent',
    description: 'An agent accepts no more work; what runs ends by itself. Only for people who operate the fleet.',
    input: z.object({ agent_name, force: z.boolean().optional().describe('Stop what runs, too') }),
    run: async (i, { ask }) => said(await ask('POST', path(i.agent_name, i.force ? '/stop?force=true' : '/stop'), {})),
  }),
  tool({
    name: 'delete_agent',
    description: 'Delete an agent; its workspace is kept. Only for people who operate the fleet.',
    input: z.object({ agent_name }),
    run: async (i, { ask }) => said(await ask('DELETE', path(i.agent_name))),
  }),
  tool({
    name: 'get_agent_logs',
    description: 'The last lines of what an agent has done.',
    input: z.object({ agent_name, tail: z.number().int().min(1).max(1_000).default(50) }),
    parallel: true,
    run: async (i, { ask }) => said(await ask('GET', path(i.agent_name, `/logs?tail=${i.tail}`))),
  }),
  tool({
    name: 'list_recent_executions',
    description: 'The newest executions, of one agent or of all you can see.',
    input: z.object({
      agent_name: agent_name.optional(),
      status: ExecutionStatus.optional(),
      limit: z.number().int().min(1).max(50).default(10),
    }),
    parallel: true,
    async run(i, { ask }) {
      const query = `limit=${i.limit}${i.status === undefined ? '' : `&status=${i.status}`}`;
      return i.agent_name === undefined
        ? said(await ask('GET', `/api/executions?${query}`), (b: { executions: ListedExecution[] }) =>
            b.executions.map(listed),
          )
        : said(await ask('GET', path(i.agent_name, `/executions?${query}`)), (b: ListedExecution[]) => b.map(listed));
    },
  }),
  tool({
    name: 'cancel_execution',
    description: 'Stop an execution, queued or running. An agent may stop what it has asked for itself.',
    input: z.object({ execution_id: z.string().min(1).max(300), reason: z.string().max(2_000).optional() }),
    run: async (i, { ask }) =>
      said(
        await ask('POST', `/api/executions/${encodeURIComponent(i.execution_id)}/terminate`, {
          reason: i.reason ?? null,
        }),
      ),
  }),
  tool({
    name: 'ask_operator',
    description:
      'Ask a person. You do not wait: end your turn, and the answer comes as the next message of this conversation. Offer ' +
      'options where you can; kind "approval" is answered by approve or deny.',
    input: z.object({
      title: z.string().min(1).max(itemLimits.titleChars).describe('The question, in one sentence'),
      details: z.string().max(itemLimits.detailsChars).optional(),
      options: z.array(z.string().min(1).max(itemLimits.optionChars)).max(itemLimits.options).optional(),
      kind: z.enum(['question', 'approval']).optional(),
      severity: Severity.optional(),
    }),
    run: async (i, { ask }) => said(await ask('POST', '/api/operator-queue', i)),
  }),
  tool({
    name: 'get_chat_history',
    description: 'The open conversation with an agent, oldest first.',
    input: z.object({ agent_name, limit: z.number().int().min(1).max(200).default(20) }),
    parallel: true,
    run: async (i, { ask }) =>
      said(await ask('GET', path(i.agent_name, '/chat/history')), (b: unknown[]) => b.slice(-i.limit)),
  }),
  tool({
    name: 'list_schedules',
    description: 'The schedules of an agent: when each runs next and what it says.',
    input: z.object({ agent_name }),
    parallel: true,
    run: async (i, { ask }) => said(await ask('GET', path(i.agent_name, '/schedules'))),
  }),
  tool({
    name: 'create_schedule',
    description:
      'Run a message on an agent again and again. cron_expression: minute hour day month weekday, in timezone. Only for ' +
      'people who operate the fleet.',
    input: z.object({
      agent_name,
      name: z.string().min(1).max(scheduleLimits.nameChars),
      cron_expression: z.string().min(1).max(scheduleLimits.cronChars),
      message: z.string().min(1),
      timezone: z.string().max(100).optional().describe('Europe/Berlin, UTC (default)'),
      description: z.string().max(scheduleLimits.descriptionChars).optional(),
      enabled: z.boolean().optional(),
    }),
    run: async ({ agent_name: name, ...body }, { ask }) => said(await ask('POST', path(name, '/schedules'), body)),
  }),
];
