import { z } from 'zod';
import { BoardUnavailableError } from '../domain/errors.ts';
import { QueueId } from '../domain/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { KanboardRpc } from './kanboard-rpc.ts';
import { call, Columns, MadeId, resultOf, TagRows } from './kanboard-rows.ts';
import { registryNamespaceOf, type TagRow } from './slot-namespace.ts';

/** What a column is for; a queue's project and a person's inbox have their own titles for it. */
export type ColumnRole = 'waiting' | 'ready' | 'working' | 'done' | 'approved' | 'rejected';

type Titles = Readonly<Partial<Record<ColumnRole, string>>>;

/** A queue's columns are Kanboard's own four; an inbox's say what a person does in them (`DESIGN.md` 5.2). */
const titles = {
  queue: { waiting: 'Backlog', ready: 'Ready', working: 'Work in progress', done: 'Done' },
  inbox: {
    ready: 'Waiting on me',
    waiting: 'Snoozed',
    approved: 'Approved',
    rejected: 'Rejected',
    done: 'Done',
  },
} as const satisfies Record<string, Titles>;

/** Whether a project is a queue that agents drain or what waits on one person. */
export type Layout = keyof typeof titles;

export interface BoardProject {
  readonly projectId: number;
  readonly queue: QueueId;
  readonly layout: Layout;
  readonly columnIds: Readonly<Partial<Record<ColumnRole, number>>>;
}

/** The id of a column; work in an inbox lies where it waits. */
export function columnOf({ columnIds }: BoardProject, role: ColumnRole): number {
  const id = columnIds[role] ?? columnIds.ready;
  if (id === undefined) throw new Error('a project is only known with its columns');
  return id;
}

export const roleOf = ({ columnIds }: BoardProject, columnId: number): ColumnRole | undefined =>
  (Object.entries(columnIds) as [ColumnRole, number][]).find(([, id]) => id === columnId)?.[0];

export interface BoardProjectsOptions {
  readonly rpc: KanboardRpc;
  readonly clock: Clock;
  readonly random: Random;
  /** Which mesh's projects, where several share a Kanboard. */
  readonly boardId: string;
  readonly layoutOf: (queue: QueueId) => Layout;
}

/**
 * Which project is which queue's. The board itself says so, in tags of a namespace of the mesh: project
 * names are not unique in Kanboard and people change them.
 */
export class BoardProjects {
  readonly #options: BoardProjectsOptions;
  readonly #namespace: number;
  readonly #known = new Map<QueueId, BoardProject>();
  readonly #making = new Map<QueueId, Promise<BoardProject>>();

  constructor(options: BoardProjectsOptions) {
    this.#options = options;
    this.#namespace = registryNamespaceOf(options.boardId);
  }

  /** Those that were read or made so far. */
  all(): readonly BoardProject[] {
    return [...this.#known.values()];
  }

  withId(projectId: number): BoardProject | undefined {
    return this.all().find((project) => project.projectId === projectId);
  }

  /** Reads what other processes have made. A project that people broke keeps its own queue back, no other. */
  async refresh(): Promise<readonly BoardProject[]> {
    const rows = await this.#rows();
    for (const queue of new Set(rows.flatMap(({ name }) => queueOf(name) ?? []))) {
      const projectId = projectIn(rows, queue);
      if (projectId === undefined || this.#known.has(queue)) continue;
      await this.#learn(queue, projectId).catch((error: unknown) => {
        if (!(error instanceof LackingColumnsError)) throw error;
      });
    }
    return this.all();
  }

  /** The project that the board names for each queue, sound or not. */
  async registered(): Promise<ReadonlyMap<QueueId, number>> {
    const rows = await this.#rows();
    const queues = new Set(rows.flatMap(({ name }) => queueOf(name) ?? []));
    return new Map(
      [...queues].flatMap((queue) => {
        const projectId = projectIn(rows, queue);
        return projectId === undefined ? [] : [[queue, projectId] as const];
      }),
    );
  }

  /** Gives a project the columns that it lacks; says which. Kanboard's own go from an inbox that is new. */
  async mend(queue: QueueId, projectId: number): Promise<readonly string[]> {
    const lacking = await this.lacking(queue, projectId);
    if (lacking.length > 0) {
      const adding = lacking.map((title) => call('addColumn', { project_id: projectId, title }));
      await this.#options.rpc.batch(adding);
      this.#known.delete(queue);
    }
    return lacking;
  }

  /** The titles of the columns that a project should have and has not. */
  async lacking(queue: QueueId, projectId: number): Promise<readonly string[]> {
    const [reply] = await this.#options.rpc.batch([call('getColumns', { project_id: projectId })]);
    return lackingOf(this.#options.layoutOf(queue), resultOf(reply, Columns, 'the columns'));
  }

  /** The project of a queue, made where there is none. */
  async of(queue: QueueId): Promise<BoardProject> {
    const known = this.#known.get(queue);
    if (known) return known;
    const making = this.#making.get(queue) ?? this.#make(queue);
    this.#making.set(queue, making);
    try {
      return await making;
    } finally {
      this.#making.delete(queue);
    }
  }

  /** One of those who want it makes it; who wins but does not finish in 5 s is stepped over. */
  async #make(queue: QueueId): Promise<BoardProject> {
    const { clock, random } = this.#options;
    const token = random.hex(8);
    for (let turn = 1; turn <= 4; turn++) {
      for (let looks = 0; looks < 25; looks++) {
        const rows = await this.#rows([tryName(queue, turn), token]);
        const projectId = projectIn(rows, queue);
        if (projectId !== undefined) return this.#learn(queue, projectId);
        const holder = rows.find(({ name }) => name === tryName(queue, turn))?.color;
        if (holder === token) {
          const made = await this.#create(queue);
          await this.#rows([isName(queue, made), token]);
          continue;
        }
        await clock.sleep(200);
      }
    }
    throw new BoardUnavailableError(
      `The project of the queue ${queue} could not be made on the board. Run: mesh board setup`,
    );
  }

  async #rows(add?: readonly [name: string, color: string]): Promise<readonly TagRow[]> {
    const listing = call('getTagsByProject', { project_id: this.#namespace });
    const [name, color] = add ?? [];
    const adding = call('createTag', { project_id: this.#namespace, tag: name, color_id: color });
    const replies = await this.#options.rpc.batch(add ? [adding, listing] : [listing]);
    return resultOf(replies.at(-1), TagRows, 'the list of projects');
  }

  async #create(queue: QueueId): Promise<number> {
    const layout = this.#options.layoutOf(queue);
    const name = layout === 'inbox' ? `Inbox of ${queue}` : queue;
    const description =
      layout === 'inbox'
        ? 'What waits on one person. Kept by cardmesh.'
        : `The queue ${queue}. Drag a task to Ready and its agent does it. Kept by cardmesh.`;
    const [made] = await this.#options.rpc.batch([
      call('createProject', {
        name,
        description,
        priority_default: 0,
        priority_start: 0,
        priority_end: 3,
      }),
    ]);
    const projectId = resultOf(made, MadeId, `the project ${name}`);
    if (projectId === undefined) {
      throw new BoardUnavailableError(`Kanboard refused to make the project ${name}.`);
    }
    await this.#arrange(projectId, layout);
    return projectId;
  }

  /** Adds the columns that lack; takes Kanboard's own ones out of a new inbox. */
  async #arrange(projectId: number, layout: Layout): Promise<void> {
    const [reply] = await this.#options.rpc.batch([call('getColumns', { project_id: projectId })]);
    const there = resultOf(reply, Columns, 'the columns');
    const wanted: string[] = Object.values(titles[layout]);
    const lacking = lackingOf(layout, there);
    const extra = layout === 'inbox' ? there.filter(({ title }) => !wanted.includes(title)) : [];
    const changes = [
      ...extra.map(({ id }) => call('removeColumn', { column_id: id })),
      ...lacking.map((title) => call('addColumn', { project_id: projectId, title })),
    ];
    if (changes.length > 0) await this.#options.rpc.batch(changes);
    if (layout === 'inbox') await this.#putLast(projectId, titles.inbox.done);
  }

  /** What is over stands at the right; the column of a new project was there before those of an inbox. */
  async #putLast(project_id: number, title: string): Promise<void> {
    const [reply] = await this.#options.rpc.batch([call('getColumns', { project_id })]);
    const there = resultOf(reply, Columns, 'the columns');
    const last = there.find((column) => isTitle(column.title, title));
    if (last === undefined || last.position === there.length) return;
    const move = { project_id, column_id: last.id, position: there.length };
    await this.#options.rpc.batch([call('changeColumnPosition', move)]);
  }

  async #learn(queue: QueueId, projectId: number): Promise<BoardProject> {
    const layout = this.#options.layoutOf(queue);
    const [reply] = await this.#options.rpc.batch([call('getColumns', { project_id: projectId })]);
    const columns = resultOf(reply, Columns, 'the columns');
    if (lackingOf(layout, columns).length > 0)
      throw new LackingColumnsError(queue, projectId, layout);
    const ids = Object.entries(titles[layout]).flatMap(([role, title]) => {
      const column = columns.find((one) => isTitle(one.title, title));
      return column ? [[role, column.id] as const] : [];
    });
    const project = { projectId, queue, layout, columnIds: Object.fromEntries(ids) };
    this.#known.set(queue, project);
    return project;
  }
}

/** A person took a column away that the mesh needs. */
class LackingColumnsError extends BoardUnavailableError {
  constructor(queue: QueueId, projectId: number, layout: Layout) {
    super(
      `The project of the queue ${queue} (number ${projectId}) lacks one of its columns ` +
        `${Object.values(titles[layout]).join(', ')}. Add it again, or run: mesh board setup`,
    );
  }
}

const isTitle = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

const lackingOf = (layout: Layout, there: z.infer<typeof Columns>): string[] =>
  Object.values<string>(titles[layout]).filter(
    (title) => !there.some((column) => isTitle(column.title, title)),
  );

const tryName = (queue: QueueId, turn: number) => `queue ${queue} made by ${turn}`;
const isName = (queue: QueueId, projectId: number) => `queue ${queue} is ${projectId}`;
const IsName = /^queue (\S+) is (\d+)$/;

const queueOf = (name: string): QueueId | undefined =>
  QueueId.safeParse(IsName.exec(name)?.[1]).data;

/** The eldest, where two hosts made one because the first was slow. */
function projectIn(rows: readonly TagRow[], queue: QueueId): number | undefined {
  const ids = rows.flatMap(({ name }) => {
    const [, named, id] = IsName.exec(name) ?? [];
    return named === queue ? [z.coerce.number().parse(id)] : [];
  });
  return ids.length === 0 ? undefined : Math.min(...ids);
}
