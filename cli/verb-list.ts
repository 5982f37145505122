import type { Command } from 'commander';
import type { Run } from './session.ts';

/** A verb's module: it puts arguments, options and actions on its command. */
export interface VerbModule {
  define(command: Command, run: Run): void;
}

export interface VerbEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  /** Loads the verb's own file: `mesh --help` reads none of them. */
  load(): Promise<VerbModule>;
}

const work = 'Work:';
const people = 'What waits for you:';
const agents = 'Agents and routing:';
const running = 'Running a mesh:';

/** Every verb of the command, in the order of its help. */
export const verbs: readonly VerbEntry[] = [
  {
    name: 'submit',
    summary: 'put a task on the board and return at once',
    group: work,
    load: () => import('./verbs/submit.ts'),
  },
  {
    name: 'send',
    summary: 'ask an agent and wait for its answer',
    group: work,
    load: () => import('./verbs/send.ts'),
  },
  {
    name: 'stream',
    summary: 'ask an agent and see its answer as it comes',
    group: work,
    load: () => import('./verbs/stream.ts'),
  },
  {
    name: 'tasks',
    summary: 'list tasks and what each waits for',
    group: work,
    load: () => import('./verbs/tasks.ts'),
  },
  {
    name: 'show',
    summary: 'show a task: its family, its log, its result',
    group: work,
    load: () => import('./verbs/show.ts'),
  },
  {
    name: 'watch',
    summary: 'follow one task, or everything, as it happens',
    group: work,
    load: () => import('./verbs/watch.ts'),
  },
  {
    name: 'why',
    summary: 'say in one sentence what a task waits for',
    group: work,
    load: () => import('./verbs/why.ts'),
  },
  {
    name: 'cancel',
    summary: 'end a task before it is done',
    group: work,
    load: () => import('./verbs/cancel.ts'),
  },
  {
    name: 'task',
    summary: 'take, finish and steer tasks by hand or from a script',
    group: work,
    load: () => import('./verbs/task.ts'),
  },
  {
    name: 'inbox',
    summary: 'questions to you, results you may verify, and what was given up',
    group: people,
    load: () => import('./verbs/inbox.ts'),
  },
  {
    name: 'answer',
    summary: 'answer the open question of a task',
    group: people,
    load: () => import('./verbs/answer.ts'),
  },
  {
    name: 'verify',
    summary: 'accept a result, or refuse it',
    group: people,
    load: () => import('./verbs/verify.ts'),
  },
  {
    name: 'cards',
    summary: 'list, check, make and compare Cards',
    group: agents,
    load: () => import('./verbs/cards.ts'),
  },
  {
    name: 'route',
    summary: 'say who would get a task, and why',
    group: agents,
    load: () => import('./verbs/route.ts'),
  },
  {
    name: 'token',
    summary: 'make, list and revoke API tokens',
    group: agents,
    load: () => import('./verbs/token.ts'),
  },
  {
    name: 'init',
    summary: 'make a mesh home from the shipped agents',
    group: running,
    load: () => import('./verbs/init.ts'),
  },
  {
    name: 'up',
    summary: 'run agents, keeper and front in one process',
    group: running,
    load: () => import('./verbs/up.ts'),
  },
  {
    name: 'serve',
    summary: 'run one agent on its own port',
    group: running,
    load: () => import('./verbs/serve.ts'),
  },
  {
    name: 'keeper',
    summary: 'run the keeper of time alone',
    group: running,
    load: () => import('./verbs/keeper.ts'),
  },
  {
    name: 'board',
    summary: 'set up, back up or restore the Kanboard of the mesh',
    group: running,
    load: () => import('./verbs/board.ts'),
  },
  {
    name: 'doctor',
    summary: 'check this machine, the home and the running mesh',
    group: running,
    load: () => import('./verbs/doctor.ts'),
  },
  {
    name: 'bench',
    summary: 'measure this checkout against its peers',
    group: running,
    load: () => import('./verbs/bench.ts'),
  },
];
