import { z } from 'zod';
import { inBatches } from './board-members.ts';
import { call, MadeId, resultOf, TagRows } from './kanboard-rows.ts';
import type { KanboardRpc, Reply } from './kanboard-rpc.ts';
import { probeNamespaceOf } from './slot-namespace.ts';

/** What the mesh relies on that an unmodified Kanboard gives, each tried out on the real one. */
export interface BoardProbes {
  version(): Promise<string>;
  /** In which dates without a zone are read and shown. */
  timezone(): Promise<string>;
  /** What is wrong with the namespaces of the slots; empty where all is right. */
  slots(): Promise<readonly string[]>;
  /** Whether a value of the most characters that we count on comes back whole. */
  keepsMetadata(projectId: number): Promise<boolean>;
  /** How many of `tries` writes at once were refused with a locked database: SQLite with several workers. */
  lockedWrites(projectId: number, tries: number): Promise<number>;
  /** Automatic actions of each project, by name; only of those that have some. */
  actions(projectIds: readonly number[]): Promise<ReadonlyMap<number, readonly string[]>>;
  /** Changes a board task that is there for nothing else, so that the webhook is called. */
  change(projectId: number, atMs: number): Promise<void>;
}

export function boardProbes(rpc: KanboardRpc, boardId: string): BoardProbes {
  const one = async <T>(method: string, schema: z.ZodType<T>, what: string, params = {}) => {
    const [reply] = await rpc.batch([call(method, params)]);
    return resultOf(reply, schema, what);
  };
  return {
    version: () => one('getVersion', z.string(), 'the version'),
    timezone: () => one('getTimezone', z.string(), 'the time zone'),
    slots: () => probeSlots(rpc, probeNamespaceOf(boardId)),
    keepsMetadata: (projectId) => keepsMetadata(rpc, projectId),
    lockedWrites: (projectId, tries) => lockedWrites(rpc, projectId, tries),
    async actions(projectIds) {
      const calls = projectIds.map((id) => call('getActions', { project_id: id }));
      const replies = await inBatches(rpc, calls);
      const found = projectIds.map((id, at) => {
        const rows = resultOf(replies[at], Actions, 'the automatic actions of a project');
        return [id, rows.map(({ action_name: name }) => name)] as const;
      });
      return new Map(found.filter(([, names]) => names.length > 0));
    },
    change: (projectId, atMs) => changeProbe(rpc, projectId, atMs),
  };
}

const Actions = z.array(z.looseObject({ action_name: z.string() }));

/** The longest name and content that PostgreSQL keeps. */
const longestName = `probe-${'n'.repeat(249)}`;
const longestColor = 'c'.repeat(50);

/** Names that are there for good: a removed tag's number may be given to a slot on SQLite. */
async function probeSlots(rpc: KanboardRpc, namespace: number): Promise<readonly string[]> {
  const make = (tag: string, color_id: string) =>
    call('createTag', { project_id: namespace, tag, color_id });
  const first = await rpc.batch([make('probe', 'first'), make(longestName, longestColor)]);
  const [again, listing] = await rpc.batch([
    make('probe', 'second'),
    call('getTagsByProject', { project_id: namespace }),
  ]);
  const problems = first.filter((reply) => !reply.ok).map(messageOf);
  if (again?.ok !== true || MadeId.safeParse(again.result).data !== undefined) {
    problems.push('a name that was taken was given away a second time');
  }
  const rows = resultOf(listing, TagRows, 'the list of probes');
  const named = (name: string) => rows.filter((row) => row.name === name).map(({ color }) => color);
  if (named('probe').join() !== 'first') problems.push('what was written first did not stay');
  if (named(longestName).join() !== longestColor) problems.push('a long record came back cut');
  return problems;
}

const messageOf = (reply: Reply): string => (reply.ok ? '' : reply.message);

const probeKey = 'mesh.probe';

async function keepsMetadata(rpc: KanboardRpc, project_id: number): Promise<boolean> {
  const value = 'v'.repeat(255);
  const [, reply] = await rpc.batch([
    call('saveProjectMetadata', { project_id, values: { [probeKey]: value } }),
    call('getProjectMetadata', { project_id }),
  ]);
  return resultOf(reply, ProbeValue, 'the metadata of a project')[probeKey] === value;
}

const ProbeValue = z
  .union([z.record(z.string(), z.unknown()), z.array(z.unknown())])
  .transform((values): Record<string, unknown> => (Array.isArray(values) ? {} : values));

/** Reads before it writes, which SQLite refuses where another process wrote in between. */
async function lockedWrites(rpc: KanboardRpc, project_id: number, tries: number): Promise<number> {
  const write = (at: number) =>
    rpc.batch(
      Array.from({ length: 5 }, (_, turn) =>
        call('saveProjectMetadata', { project_id, values: { [`${probeKey}.${at}`]: `${turn}` } }),
      ),
    );
  const answers = await Promise.all(Array.from({ length: tries }, (_, at) => write(at)));
  return answers.filter((replies) => replies.some((reply) => /locked/i.test(messageOf(reply))))
    .length;
}

const probeReference = 'mesh:probe';

/** A closed board task, so that nobody has to look at it. */
async function changeProbe(rpc: KanboardRpc, project_id: number, atMs: number): Promise<void> {
  const looking = call('getTaskByReference', { project_id, reference: probeReference });
  const found = async () => {
    const [reply] = await rpc.batch([looking]);
    return resultOf(reply, Found.nullable(), 'the task for probes')?.id;
  };
  const there = (await found()) ?? (await makeProbe(rpc, project_id)) ?? (await found());
  const description = `\`mesh board setup\` changed this at ${new Date(atMs).toISOString()}.`;
  const [reply] = await rpc.batch([call('updateTask', { id: there, description })]);
  resultOf(reply, z.literal(true), 'a change of the task for probes');
}

const Found = z.looseObject({ id: z.coerce.number().int() });

async function makeProbe(rpc: KanboardRpc, project_id: number): Promise<number | undefined> {
  const title = 'Whether a change is heard of (kept by cardmesh)';
  const params = { project_id, title, reference: probeReference };
  const [made] = await rpc.batch([call('createTask', params)]);
  const id = resultOf(made, MadeId, 'the task for probes');
  if (id !== undefined) await rpc.batch([call('closeTask', { task_id: id })]);
  return id;
}
