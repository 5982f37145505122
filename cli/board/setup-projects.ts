import type { QueueId } from '../../fabric/domain/ids.ts';
import type { SetupContext } from './setup-context.ts';
import { right, wrong, type Step } from './step.ts';

export interface SetUpProjects {
  readonly steps: readonly Step[];
  /** Those that are there. */
  readonly ids: ReadonlyMap<QueueId, number>;
}

/** A project a queue, with the columns that its tasks need. */
export async function setUpProjects(context: SetupContext): Promise<SetUpProjects> {
  const { policies, projects, isDry } = context;
  const queues = [...new Set(policies.map(({ queue }) => queue))].sort();
  const there = new Map(await projects.registered());
  const steps: Step[] = [];
  for (const queue of queues) {
    const projectId = there.get(queue);
    if (projectId === undefined) {
      if (!isDry) there.set(queue, (await projects.of(queue)).projectId);
      steps.push({
        about: 'project',
        verdict: isDry ? 'would' : 'changed',
        says: `${queue}: made`,
      });
      continue;
    }
    const lacking = isDry
      ? await projects.lacking(queue, projectId)
      : await projects.mend(queue, projectId);
    if (lacking.length === 0) continue;
    const says = `${queue} (number ${projectId}): ${lacking.join(', ')} added`;
    steps.push({ about: 'columns', verdict: isDry ? 'would' : 'changed', says });
  }
  const ids = new Map([...there].filter(([queue]) => queues.includes(queue)));
  return { ids, steps: [...steps, ...(await actionSteps(context, ids)), summary(queues, steps)] };
}

const summary = (queues: readonly string[], steps: readonly Step[]): Step =>
  right('projects', `${queues.length - steps.length} of ${queues.length} were as they should be`);

/** Automatic actions run inside of API calls, once for each call of a batch, and move what we have moved. */
async function actionSteps(
  { probes }: SetupContext,
  ids: ReadonlyMap<QueueId, number>,
): Promise<readonly Step[]> {
  const found = await probes.actions([...ids.values()]);
  const queueOf = (id: number) => [...ids].find(([, projectId]) => projectId === id)?.[0] ?? '';
  return [...found].map(([id, names]) =>
    wrong(
      'warn',
      'actions',
      `${queueOf(id)} has automatic actions (${names.length}): they run inside the mesh’s own calls, several times`,
      'Take them away: Project settings → Automatic actions.',
    ),
  );
}
