import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { MeshConnection } from '../../cli/mesh-connection.ts';
import { openSession, type Result } from '../../cli/session.ts';
import { define } from '../../cli/verbs/inbox.ts';
import { inboxOf } from '../../fabric/queue/inbox.ts';
import { steerTask } from '../../fabric/queue/steer.ts';
import { agentCaller, person, queueMesh, type MemoryQueueMesh } from '../support/queue-mesh.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { typedTerminal } from '../support/typed-terminal.ts';

/** What `mesh inbox` of `principal` makes. */
async function inbox({ deps, clock }: MemoryQueueMesh, principal: string): Promise<Result> {
  const mesh: MeshConnection = {
    ...{ home: '/h', url: 'http://front.test', token: 't', principal, inProcess: false },
    fetch: () => Promise.reject(new Error('The listing reads the board alone.')),
    board: deps.board,
    close: () => Promise.resolve(),
  };
  const session = openSession(
    { color: false },
    {
      ...{ clock, random: seededRandom(1), signal: new AbortController().signal },
      terminal: typedTerminal(),
      openMesh: () => Promise.resolve(mesh),
    },
  );
  let made: Result | undefined;
  const command = new Command();
  define(command, async (verb) => {
    made = await verb(session);
  });
  await command.parseAsync([], { from: 'user' });
  if (made === undefined) throw new Error('The verb made nothing.');
  return made;
}

interface Listed {
  readonly questions: readonly { readonly taskId: string }[];
  readonly results: readonly { readonly taskId: string }[];
  readonly admissions: readonly { readonly taskId: string }[];
  readonly givenUp: readonly { readonly taskId: string }[];
}

async function allKinds(): Promise<MemoryQueueMesh> {
  const mesh = queueMesh({ id: 'stranger', trust: 'untrusted' });
  const asked = await mesh.submit({ intent: { title: 'Paint', body: 'Paint it.' } });
  await mesh.run(asked.taskId, {
    kind: 'asked',
    question: { kind: 'question', to: 'submitter', text: 'Red or blue?', options: ['red', 'blue'] },
  });
  const done = await mesh.submit({ intent: { title: 'Count', body: 'Count them.' } });
  await mesh.run(done.taskId, { kind: 'done', outcome: { summary: 'Seven.', artifacts: [] } });
  const principal = agentCaller('stranger', { trust: 'untrusted' });
  await mesh.submit({ principal, intent: { title: 'Open up', body: 'Open the door.' } });
  const lost = await mesh.submit({ intent: { title: 'Build', body: 'Build it.' } });
  const reason = 'its repository is gone';
  await steerTask(mesh.deps, person('alvis'), lost.taskId, { do: 'deadletter', reason });
  return mesh;
}

describe('the inbox on the command line', () => {
  it('shows questions, results, what is to be let in and what was given up, each with how to settle it', async () => {
    const mesh = await allKinds();
    const { text, data } = await inbox(mesh, 'alvis');
    const { questions, results, admissions, givenUp } = data as Listed;
    const short = (of: Listed[keyof Listed]) => of.map(({ taskId }) => taskId.slice(0, 8)).join();
    expect([questions, results, admissions, givenUp].map((of) => of.length)).toEqual([1, 1, 1, 1]);
    expect(text).toContain(`mesh answer ${short(questions)} red|blue`);
    expect(text).toContain(`mesh verify ${short(results)}`);
    expect(text).toContain(`mesh task admit ${short(admissions)}   or   mesh cancel`);
    expect(text).toContain('stranger may not start it alone');
    expect(text).toContain('its repository is gone');
    expect(text).toContain(`mesh task archive ${short(givenUp)}   or submit it again`);
  });

  it('has the same as the page, in the same order', async () => {
    const mesh = await allKinds();
    const { data } = await inbox(mesh, 'alvis');
    const { questions, results, admissions, givenUp } = data as Listed;
    const page = await inboxOf(mesh.deps, person('alvis'));
    const idsOf = (kind: string) =>
      page.filter((item) => item.kind === kind).map(({ state }) => state.taskId);
    for (const [kind, listed] of [
      ['question', questions],
      ['verify', results],
      ['admit', admissions],
      ['givenUp', givenUp],
    ] as const)
      expect(listed.map(({ taskId }) => taskId)).toEqual(idsOf(kind));
  });

  it('is empty for who is asked nothing', async () => {
    expect((await inbox(await allKinds(), 'bob')).text).toBe('Nothing waits for you.');
  });
});
