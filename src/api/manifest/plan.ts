/**
 * What a manifest would do to this fleet: one step for each thing it names, and what does not fit, by line. Reads only. What the
 * manifest does not name is left alone; nothing is ever deleted by it.
 */
import { admitAgent, admitPatch } from '../../admission/agent-spec.ts';
import { type AgentRow, AgentSpec } from '../../contract/agent.ts';
import { isRefusal, type Refusal } from '../../contract/errors.ts';
import { cleanName } from '../../contract/names.ts';
import type { ScheduleRow } from '../../contract/schedule.ts';
import { cronProblem } from '../../schedule/cron.ts';
import type { FleetLimits } from '../../store/rows.ts';
import { scheduleColumns } from '../routes/schedules.ts';
import type { Locate, Manifest, ManifestAgent, ManifestError } from './read-manifest.ts';

export interface Step {
  kind: 'limits' | 'agent' | 'permissions' | 'schedule';
  /** `agent` or `agent/schedule`. */
  name: string;
  action: 'create' | 'change' | 'unchanged';
  /** What changes. */
  fields: string[];
  /** The route that does it. */
  request: { method: 'POST' | 'PUT'; url: string; payload: object };
}
export interface Fleet {
  agents: AgentRow[];
  schedules: ScheduleRow[];
  permissions: Map<string, string[] | null>;
  limits: FleetLimits;
  isolated: boolean;
  now: number;
}

export const planManifest = async (
  manifest: Manifest,
  locate: Locate,
  fleet: Fleet,
): Promise<{ steps: Step[]; errors: ManifestError[] }> => {
  const steps: Step[] = [];
  const errors: ManifestError[] = [];
  const wrong = (path: readonly PropertyKey[], refusal: Refusal) => {
    const details = Array.isArray(refusal.details) ? (refusal.details as { field?: string }[]) : [];
    const field = details[0]?.field;
    errors.push({ ...locate(field === undefined ? path : [...path, ...field.split('.')]), problem: refusal.message });
  };
  if (manifest.limits !== undefined) steps.push(limitsStep(manifest.limits, fleet.limits));
  const named = new Set([...fleet.agents.map((a) => a.name), ...manifest.agents.map((a) => cleanName(a.name))]);
  const late: Step[] = [];
  for (const [i, wanted] of manifest.agents.entries()) {
    const name = cleanName(wanted.name);
    const known = fleet.agents.find((a) => a.name === name) ?? null;
    const step = await agentStep(name, wanted, known, fleet);
    if (isRefusal(step)) wrong(['agents', i], step);
    else steps.push(step);
    const unknown = (wanted.permitted_agents ?? []).filter((n) => !named.has(cleanName(n)));
    if (unknown.length > 0)
      errors.push({
        ...locate(['agents', i, 'permitted_agents']),
        problem: `there is no agent ${unknown.join(', ')}, neither here nor in the manifest`,
      });
    if (wanted.permitted_agents !== undefined) late.push(permissionStep(name, wanted.permitted_agents, known, fleet));
    for (const [j, schedule] of (wanted.schedules ?? []).entries()) {
      const problem = cronProblem(schedule.cron_expression, schedule.timezone ?? 'UTC', fleet.now);
      if (problem !== null) wrong(['agents', i, 'schedules', j], problem);
      else late.push(scheduleStep(name, schedule, known, fleet));
    }
  }
  return { steps: [...steps, ...late], errors };
};

const differing = (wanted: object, is: object): string[] =>
  Object.entries(wanted)
    .filter(([k, v]) => JSON.stringify(v ?? null) !== JSON.stringify((is as Record<string, unknown>)[k] ?? null))
    .map(([k]) => k);

const limitsStep = (wanted: NonNullable<Manifest['limits']>, is: FleetLimits): Step => {
  const fields = differing(wanted, is);
  return {
    kind: 'limits',
    name: 'fleet',
    action: fields.length === 0 ? 'unchanged' : 'change',
    fields,
    request: { method: 'PUT', url: '/api/fleet/limits', payload: wanted },
  };
};

const agentStep = async (
  name: string,
  { name: _, permitted_agents: __, schedules: ___, ...spec }: ManifestAgent,
  known: AgentRow | null,
  fleet: Fleet,
): Promise<Step | Refusal> => {
  const url = `/api/agents/${name}`;
  if (known !== null) {
    const columns = await admitPatch(known, spec, fleet);
    if (isRefusal(columns)) return columns;
    const fields = differing(columns, known);
    const action = fields.length === 0 ? 'unchanged' : 'change';
    return { kind: 'agent', name, action, fields, request: { method: 'PUT', url, payload: spec } };
  }
  const full = AgentSpec.parse({ ...spec, name });
  const row = await admitAgent(full, { id: '', owner_id: '', now: fleet.now }, fleet);
  if (isRefusal(row)) return row;
  const request = { method: 'POST' as const, url: '/api/agents', payload: { ...spec, name } };
  return { kind: 'agent', name, action: 'create', fields: Object.keys(spec), request };
};

const permissionStep = (name: string, wanted: string[] | null, known: AgentRow | null, fleet: Fleet): Step => {
  const ids = known === null ? null : (fleet.permissions.get(known.id) ?? null);
  const is = ids === null ? null : ids.map((id) => fleet.agents.find((a) => a.id === id)?.name ?? id).sort();
  const to = wanted === null ? null : [...new Set(wanted.map(cleanName))].filter((n) => n !== name).sort();
  const same = JSON.stringify(is) === JSON.stringify(to);
  return {
    kind: 'permissions',
    name,
    action: same ? 'unchanged' : 'change',
    fields: same ? [] : ['permitted_agents'],
    request: { method: 'PUT', url: `/api/agents/${name}/permissions`, payload: { permitted_agents: to } },
  };
};

const scheduleStep = (
  agent: string,
  wanted: NonNullable<ManifestAgent['schedules']>[number],
  known: AgentRow | null,
  fleet: Fleet,
): Step => {
  const name = `${agent}/${wanted.name}`;
  const is = fleet.schedules.find((s) => s.agent_id === known?.id && s.name === wanted.name);
  const url = `/api/agents/${agent}/schedules`;
  if (is === undefined)
    return {
      kind: 'schedule',
      name,
      action: 'create',
      fields: Object.keys(wanted),
      request: { method: 'POST', url, payload: wanted },
    };
  const fields = differing(scheduleColumns(wanted), is);
  return {
    kind: 'schedule',
    name,
    action: fields.length === 0 ? 'unchanged' : 'change',
    fields,
    request: { method: 'PUT', url: `${url}/${is.id}`, payload: wanted },
  };
};
