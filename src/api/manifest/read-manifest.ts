/**
 * YAML → a manifest, or every problem with the line it is on. Pure: whether it fits this fleet is asked later (plan.ts). Aliases are
 * bounded by the parser; nothing in it is ever run.
 */
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { AgentPatch } from '../../contract/agent.ts';
import { limits } from '../../contract/limits.ts';
import { cleanName } from '../../contract/names.ts';
import { ScheduleFields } from '../routes/schedules.ts';

const ManifestAgent = AgentPatch.extend({
  name: z.string().min(1).max(200),
  /** Names; left out: as it is. Null: every agent of its owner. */
  permitted_agents: z.array(z.string().max(300)).max(1_000).nullable().optional(),
  schedules: z.array(ScheduleFields.strict()).max(200).optional(),
}).strict();
const Manifest = z
  .object({
    version: z.literal(1).optional(),
    limits: z
      .object({
        agent_call_limit: z.number().int().min(limits.agentCallLimit.min).max(limits.agentCallLimit.max).optional(),
        queue_timeout_s: z.number().int().min(limits.queueTimeoutS.min).max(limits.queueTimeoutS.max).optional(),
      })
      .strict()
      .optional(),
    agents: z.array(ManifestAgent).max(1_000).default([]),
  })
  .strict();
export type Manifest = z.infer<typeof Manifest>;
export type ManifestAgent = z.infer<typeof ManifestAgent>;

export interface ManifestError {
  line: number;
  column: number;
  /** `agents.0.schedules.1.cron_expression`; '' = the text itself. */
  path: string;
  problem: string;
}
type Path = readonly PropertyKey[];
/** Where something of the manifest stands in its text. */
export type Locate = (path: Path) => Pick<ManifestError, 'line' | 'column' | 'path'>;

type ReadManifest = { manifest: Manifest; locate: Locate } | { errors: ManifestError[] };

export const readManifest = (text: string): ReadManifest => {
  const lines = new LineCounter();
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (doc.errors.length > 0)
    return {
      errors: doc.errors.map((e) => ({ ...at(lines, e.pos[0]), path: '', problem: e.message })),
    };
  const locate = locator(doc, lines);
  const parsed = Manifest.safeParse(doc.toJS({ maxAliasCount: 100 }) ?? {});
  if (!parsed.success) return { errors: parsed.error.issues.map((i) => ({ ...locate(i.path), problem: i.message })) };
  const twice = doubled(parsed.data);
  return twice.length > 0
    ? { errors: twice.map(({ path, problem }) => ({ ...locate(path), problem })) }
    : { manifest: parsed.data, locate };
};

const at = (lines: LineCounter, offset: number) => {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
};

/** The nearest thing that is in the text: a field that is missing is told at what it is missing from. */
const locator =
  (doc: Document, lines: LineCounter): Locate =>
  (path) => {
    for (let n = path.length; n > 0; n--) {
      const node = doc.getIn(path.slice(0, n), true);
      if (isNode(node) && node.range) return { ...at(lines, node.range[0]), path: path.map(String).join('.') };
    }
    return { line: 1, column: 1, path: path.map(String).join('.') };
  };

const doubled = (m: Manifest): { path: Path; problem: string }[] => {
  const names = m.agents.map((a) => cleanName(a.name));
  return m.agents.flatMap((a, i) => [
    ...(names[i] === '' ? [{ path: ['agents', i, 'name'], problem: 'has no letter or digit' }] : []),
    ...(names.indexOf(names[i]!) < i
      ? [{ path: ['agents', i, 'name'], problem: `the agent ${names[i]} is there twice` }]
      : []),
    ...(a.schedules ?? []).flatMap((s, j, all) =>
      all.findIndex((o) => o.name === s.name) < j
        ? [{ path: ['agents', i, 'schedules', j, 'name'], problem: `the schedule "${s.name}" is there twice` }]
        : [],
    ),
  ]);
};
