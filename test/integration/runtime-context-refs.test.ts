import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveContextRefs, type ContextRefDeps } from '../../agents/runtimes/context-refs.ts';
import { modelRuntime } from '../../agents/runtimes/model.ts';
import { Card } from '../../cards/schema/card.ts';
import { ContextRef } from '../../fabric/domain/context-ref.ts';
import { fold } from '../../fabric/domain/fold.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import {
  askedBy,
  builtAtMs,
  claimedBy,
  human,
  newToken,
  questionTo,
  settledBy,
  submittedEvent,
  type TaskOverrides,
} from '../support/board-builders.ts';
import { cardFields } from '../support/card-yaml.ts';
import { modelDesk, scriptedGateway } from '../support/model-desk.ts';
import { recordedRun, runningState } from '../support/task-run.ts';

let root = '';
let sha = '';

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'mesh-refs-'));
  for (const folder of ['files/sub', 'files-other', 'repos/shop', 'secret-repo']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  writeFileSync(join(root, 'files/plan.md'), 'The plan: ü€😀');
  writeFileSync(join(root, 'files/binary'), Buffer.from([0xff, 0xfe, 0x00]));
  writeFileSync(join(root, 'files/large'), 'x'.repeat(128 * 1024 + 1));
  writeFileSync(join(root, 'files/full'), 'x'.repeat(128 * 1024));
  writeFileSync(join(root, 'secret'), 'Not for you.');
  writeFileSync(join(root, 'files-other/secret'), 'Not for you.');
  symlinkSync('../secret', join(root, 'files/escape'));
  symlinkSync('..', join(root, 'files/up'));
  symlinkSync('plan.md', join(root, 'files/inner'));
  execFileSync('mkfifo', [join(root, 'files/pipe')]);
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', join(root, 'repos/shop'), ...args], { encoding: 'utf8' }).trim();
  git('init', '-q', '-b', 'main');
  writeFileSync(join(root, 'repos/shop/README.md'), 'As committed.');
  writeFileSync(join(root, 'repos/shop/large'), 'x'.repeat(128 * 1024 + 1));
  git('add', '.');
  git('-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '-qm', 'Open the shop');
  sha = git('rev-parse', 'HEAD');
  writeFileSync(join(root, 'repos/shop/README.md'), 'Not committed.');
  symlinkSync('../secret-repo', join(root, 'repos/linked'));
});
afterAll(() => rmSync(root, { recursive: true }));

const refsOf = (...refs: string[]) => refs.map((ref) => ContextRef.parse(ref));
const wish = (refs: string[], task: TaskOverrides = {}): TaskState =>
  runningState({ ...task, definition: { contextRefs: refsOf(...refs) } });

function depsWith(states: readonly TaskState[] = []): ContextRefDeps {
  const { deps } = modelDesk({
    ...{ cards: [], clock: systemClock, states },
    deps: {
      fileRoots: [join(root, 'files')],
      repositoryRoots: [join(root, 'repos')],
      artifacts: {
        put: () => Promise.resolve(''),
        get: (name) => Promise.resolve(name === digest ? Buffer.from('The artifact.') : undefined),
      },
    },
  });
  return deps;
}
const digest = 'ab'.repeat(32);

async function resolved(ref: string, states: readonly TaskState[] = [], task: TaskOverrides = {}) {
  const [one] = await resolveContextRefs(depsWith(states), wish([ref], task));
  if (one === undefined) throw new Error('Nothing was resolved.');
  return one.kind === 'text' ? one.text : one.kind;
}

describe('file:', () => {
  it.each([
    ['file:plan.md', 'The plan: ü€😀'],
    ['file:sub/../plan.md', 'The plan: ü€😀'],
    ['file:inner', 'The plan: ü€😀'],
  ])('%s is its text', async (ref, text) => {
    expect(await resolved(ref)).toBe(text);
  });

  it('may be absolute below its root, and 128 KiB long', async () => {
    expect(await resolved(`file:${root}/files/plan.md`)).toBe('The plan: ü€😀');
    expect(await resolved('file:full')).toHaveLength(128 * 1024);
  });

  it.each([
    ['file:none'],
    ['file:../secret'],
    ['file:escape'],
    ['file:up/secret'],
    ['file:up/files-other/secret'],
    ['file:/etc/passwd'],
    ['file:sub'],
    ['file:pipe'],
    ['file:binary'],
    ['file:large'],
  ])('%s is not opened', async (ref) => {
    expect(await resolved(ref)).toBe('unresolvable');
    expect(await resolved(`file:${root}/files-other/secret`)).toBe('unresolvable');
  });
});

describe('git:', () => {
  it('is the file as committed', async () => {
    for (const revision of [sha, sha.slice(0, 8), 'main']) {
      expect(await resolved(`git:shop@${revision}#README.md`)).toBe('As committed.');
    }
    expect(await resolved(`git:${root}/repos/shop@${sha}#README.md`)).toBe('As committed.');
  });

  it('without path is the commit', async () => {
    expect(await resolved(`git:shop@${sha}`)).toMatch(/Open the shop[^]*README\.md/);
  });

  it.each([
    ['git:shop@0000000#README.md'],
    ['git:shop@--help#README.md'],
    ['git:shop@main#none.md'],
    ['git:shop@main#../../secret'],
    ['git:shop@main#large'],
    ['git:none@main#README.md'],
    ['git:linked@main#x'],
    ['git:../secret-repo@main#x'],
  ])('%s leads nowhere', async (ref) => {
    expect(await resolved(ref)).toBe('unresolvable');
  });
});

function finished(task: TaskOverrides = {}): TaskState {
  const artifacts = [
    { artifactId: 'answer', mediaType: 'text/plain', ref: `artifact:${digest}`, bytes: 13 },
  ];
  return fold([
    submittedEvent({ title: 'Earlier', body: 'Do it.', ...task }),
    claimedBy('adolf', { attempt: 1 }),
    settledBy('adolf', 2, { artifacts }),
  ])!;
}

describe('task: and artifact:', () => {
  it('are what the submitter may see', async () => {
    const mine = finished();
    expect(await resolved(`task:${mine.taskId}`, [mine])).toBe(
      'Earlier\n\nDo it.\n\n(done) Result:\nThe artifact.',
    );
    expect(await resolved(`artifact:${digest}`, [mine])).toBe('The artifact.');
  });

  it('of another person are nothing', async () => {
    const theirs = finished({ submitter: 'bob', responsible: 'bob' });
    expect(await resolved(`task:${theirs.taskId}`, [theirs])).toBe('unresolvable');
    expect(await resolved(`artifact:${digest}`, [theirs])).toBe('unresolvable');
  });

  it('never cross from one person to another through an agent that saw both', async () => {
    const forBob = finished({ submitter: 'adolf', submitterRole: 'agent', interlocutor: 'bob' });
    const asked = { submitter: 'adolf', submitterRole: 'agent', interlocutor: 'alvis' } as const;
    expect(await resolved(`task:${forBob.taskId}`, [forBob], asked)).toBe('unresolvable');
    expect(await resolved(`artifact:${digest}`, [forBob], asked)).toBe('unresolvable');
  });

  it('without a task that names it an artifact is nothing', async () => {
    expect(await resolved(`artifact:${digest}`)).toBe('unresolvable');
  });
});

it('web addresses and banks are named, not opened', async () => {
  expect(await resolved('url:https://example.org/')).toBe('listed');
  expect(await resolved('bank:adolf')).toBe('listed');
});

describe('a run with a pointer that leads nowhere', () => {
  const card = Card.parse(cardFields());
  const kimi = Card.parse(
    cardFields({
      ...{ id: 'kimi', name: 'Kimi', persona: undefined, needs: undefined, tier: 'large' },
      model: { gateway: 'kimi', contextTokens: 8_000 },
    }),
  );
  const work = (state: TaskState) => {
    const gateway = scriptedGateway({ text: 'Done without.' });
    const { deps } = modelDesk({ cards: [card, kimi], gateway, clock: systemClock });
    const end = modelRuntime(card, deps)(recordedRun(state), new AbortController().signal);
    return end.then((how) => ({ end: how, gateway }));
  };

  it('asks its submitter once, and goes on with the answer', async () => {
    const { end, gateway } = await work(wish(['file:none']));
    expect(end).toMatchObject({
      kind: 'asked',
      question: {
        to: 'submitter',
        kind: 'question',
        text: expect.stringContaining('file:none') as string,
      },
    });
    expect(gateway.requests).toHaveLength(0);
    if (end.kind !== 'asked') return;
    const question = questionTo(['alvis'], { text: end.question.text });
    const answered = runningState({ definition: { contextRefs: refsOf('file:none') } }, [
      claimedBy('adolf', { attempt: 1 }),
      askedBy('adolf', 2, ['alvis'], { question }),
      {
        ...{ kind: 'answered', by: human('alvis'), atMs: builtAtMs, token: newToken() },
        ...{ decisionId: question.decisionId, value: 'Go on without.' },
      },
    ]);
    const second = await work(answered);
    expect(second.end.kind).toBe('done');
    const prompt = second.gateway.requests[0]!.messages.map(({ content }) => content).join();
    expect(prompt).toContain("it can't be had: file:none");
  });
});
