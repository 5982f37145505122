import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { subprocessRunner } from '../../agents/executors/subprocess.ts';
import { runnerRuntime } from '../../agents/runtimes/runner.ts';
import type { RunnerPacket } from '../../agents/runtimes/runner-packet.ts';
import { Card } from '../../cards/schema/card.ts';
import { readCard } from '../../cards/schema/read-card.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import type { TaskOverrides } from '../support/board-builders.ts';
import { cardFields } from '../support/card-yaml.ts';
import { recordingLog } from '../support/recording-log.ts';
import { recordedRun, runningState } from '../support/task-run.ts';

const fakeRunner = join(import.meta.dirname, '../fixtures/runners/fake-runner.mjs');
const catalog = join(import.meta.dirname, '../../cards/catalog');
const never = new AbortController().signal;
let runsFolder = '';

beforeEach(() => {
  runsFolder = mkdtempSync(join(tmpdir(), 'mesh-runs-'));
});
afterEach(() => {
  rmSync(runsFolder, { recursive: true });
});

const runnerCard = (change: Record<string, unknown> = {}): Card =>
  Card.parse(
    cardFields({
      runtime: 'runner',
      runner: { command: [process.execPath, fakeRunner], timeout: '10s' },
      persona: undefined,
      needs: undefined,
      ...change,
    }),
  );

function runtimeOf(card: Card, variables: Readonly<Record<string, string>> = {}) {
  if (card.runner === undefined) throw new Error('The Card has no runner.');
  return runnerRuntime(card, card.runner, {
    runSubprocess: subprocessRunner({ clock: systemClock }),
    grants: {
      basicEnvironment: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
      variable: (name) => variables[name],
      meshUrl: () => 'http://127.0.0.1:4700',
      issueRunToken: ({ taskId, fence }) => Promise.resolve(`token-${taskId}-${fence}`),
    },
    runsFolder,
    clock: systemClock,
    log: recordingLog(),
  });
}

const runOf = (body: string, task: TaskOverrides = {}) =>
  recordedRun(runningState({ title: body.slice(0, 200), body, ...task }));

const run = (body: string, card = runnerCard(), task: TaskOverrides = {}): Promise<RunEnd> =>
  runtimeOf(card)(runOf(body, task), never);

const external = { definition: { effects: 'external' as const } };
const summaryOf = (end: RunEnd): string => (end.kind === 'done' ? end.outcome.summary : end.kind);

describe('the packet', () => {
  it('has goal, criteria, sources, context and what is allowed', async () => {
    const end = await run('packet', runnerCard(), {
      definition: {
        acceptance: 'All links answer.',
        contextRefs: ['file:docs' as never, 'git:shop@0a1b2c#README.md' as never],
      },
    });
    const packet = JSON.parse(summaryOf(end)) as RunnerPacket;
    expect(packet).toMatchObject({
      version: 1,
      goal: 'packet',
      completion_criteria: 'All links answer.',
      sources: [
        { id: 's1', reference: 'file:docs' },
        { id: 's2', reference: 'git:shop@0a1b2c#README.md' },
      ],
      decision: null,
    });
    expect(packet).not.toHaveProperty('action');
    expect(packet.allowed_status).toHaveLength(4);
  });

  it('is never given to a shell', async () => {
    const body = '{"run_id":"RUN","status":"completed","summary":"$(touch marker) `id`; x"}';
    expect(summaryOf(await run(body))).toBe('$(touch marker) `id`; x');
  });

  it('over its bound starts nothing and leaves nothing', async () => {
    const end = await run('ü'.repeat(40_000));
    expect(end).toMatchObject({ kind: 'failed', retryable: false });
    expect(readdirSync(runsFolder)).toEqual([]);
  });
});

describe('what the program is given', () => {
  it('is PATH, LANG and its mark, nothing else', async () => {
    const seen = JSON.parse(summaryOf(await run('environment'))) as Record<string, string>;
    expect(Object.keys(seen).sort()).toEqual(['LANG', 'MESH_RUN_MARK', 'PATH']);
  });

  it.each([
    ['mayCall', { mayCall: ['researcher'] }],
    ['progress', { progress: true }],
  ])('is the way back into the mesh with %s', async (_what, change) => {
    const card = runnerCard({ ...change, runner: { ...fixed, env: { MODE: 'quick' } } });
    const seen = JSON.parse(summaryOf(await run('environment', card))) as Record<string, string>;
    expect(seen['MESH_URL']).toBe('http://127.0.0.1:4700');
    // A secret like any other: never shown.
    expect(seen['MESH_TASK_TOKEN']).toBe('[redacted]');
    expect(seen['MODE']).toBe('quick');
  });

  it('is what its Card lists, masked in all it says', async () => {
    const runtime = runtimeOf(runnerCard({ secrets: ['API_KEY'] }), { API_KEY: 's3cr"et' });
    expect(summaryOf(await runtime(runOf('secret'), never))).toBe('key [redacted]');
    const end = await runtime(runOf('secret-fails'), never);
    expect(end).toEqual({
      kind: 'failed',
      reason: 'its program ended with 3: key was [redacted]',
      retryable: true,
    });
  });

  it.each(['env', 'secrets'])('is never the mesh’s own, whatever %s lists', async (field) => {
    const card = runnerCard({ [field]: ['MESH_GATEWAY_KEY'] });
    const runtime = runtimeOf(card, { MESH_GATEWAY_KEY: 's3cret' });
    expect(await runtime(runOf('environment'), never)).toMatchObject({
      kind: 'parked',
      reason: expect.stringContaining('MESH_GATEWAY_KEY') as string,
    });
  });

  it('parks where a listed secret is not set', async () => {
    const end = await run('secret', runnerCard({ secrets: ['API_KEY'] }));
    expect(end).toMatchObject({
      kind: 'parked',
      reason: expect.stringContaining('API_KEY') as string,
    });
  });
});

const fixed = { command: [process.execPath, fakeRunner] };
const soon = new Date(Date.now() + 3_600_000).toISOString();

describe('a result as agreed', () => {
  it('completed is done, with its whole text as the answer', async () => {
    const long = 'word '.repeat(400).trim();
    const end = await run(`{"run_id":"RUN","status":"completed","summary":"${long}"}`);
    expect(end).toMatchObject({
      kind: 'done',
      outcome: { artifacts: [{ name: 'answer', text: long }] },
    });
    expect(summaryOf(end).length).toBeLessThanOrEqual(1_000);
    expect(readdirSync(runsFolder)).toEqual([]);
  });

  it.each([
    [`"scheduled","wake_at":"${soon}"`, { kind: 'deferred', wakeAtMs: Date.parse(soon) }],
    [
      '"waiting_user","decision_prompt":"Which?"',
      {
        kind: 'asked',
        question: { kind: 'question', to: 'submitter', text: 'Which?', options: [] },
      },
    ],
    ['"needs_review"', { kind: 'uncertain', reason: 's' }],
  ])('%s', async (rest, end) => {
    expect(await run(`{"run_id":"RUN","summary":"s","status":${rest}}`)).toEqual(end);
  });

  it.each([
    ['"completed","action_status":"performed","receipt_id":"RECEIPT"', 'done'],
    ['"completed","action_status":"not_started"', 'done'],
    ['"needs_review","action_status":"uncertain"', 'uncertain'],
    ['"waiting_user","decision_prompt":"May I?","action_status":"not_started"', 'asked'],
  ])('of an action: %s', async (rest, kind) => {
    const end = await run(
      `{"run_id":"RUN","summary":"s","status":${rest}}`,
      runnerCard(),
      external,
    );
    expect(end.kind).toBe(kind);
  });
});

describe('a result that breaks the contract is uncertain', () => {
  const good = '"run_id":"RUN","summary":"s"';
  it.each([
    ['nothing', ' '],
    ['prose', 'I did it.'],
    ['two objects', `{${good},"status":"completed"}{}`],
    ['text before', `ok {${good},"status":"completed"}`],
    ['text after', `{${good},"status":"completed"} ok`],
    ['a list', `[{${good},"status":"completed"}]`],
    ['a duplicate key', `{${good},"status":"completed","status":"completed"}`],
    ['an unknown key', `{${good},"status":"completed","goal":"more"}`],
    ['a widened authorization', `{${good},"status":"completed","authorization":{}}`],
    ['another run', '{"run_id":"other-v1","summary":"s","status":"completed"}'],
    ['no run', '{"summary":"s","status":"completed"}'],
    ['another status', `{${good},"status":"verified"}`],
    ['an empty summary', '{"run_id":"RUN","summary":" ","status":"completed"}'],
    ['null', `{${good},"status":"completed","wake_at":null}`],
    ['scheduled without time', `{${good},"status":"scheduled"}`],
    ['scheduled in the past', `{${good},"status":"scheduled","wake_at":"2020-01-01T00:00:00Z"}`],
    ['a time without zone', `{${good},"status":"scheduled","wake_at":"2999-01-01T00:00:00"}`],
    ['a time with another status', `{${good},"status":"completed","wake_at":"${soon}"}`],
    ['waiting for an event', `{${good},"status":"waiting_event","event_id":"e-1"}`],
    ['a question without words', `{${good},"status":"waiting_user"}`],
    ['a question when done', `{${good},"status":"completed","decision_prompt":"?"}`],
    ['an action nobody gave', `{${good},"status":"completed","action_status":"performed"}`],
    ['more than its bound', `{${good},"status":"completed"}`.padEnd(64 * 1024 - 300, ' ')],
  ])('%s', async (what, body) => {
    const wish = what === 'more than its bound' ? 'flood' : body;
    const card = wish === 'flood' ? runnerCard({ runner: floods }) : runnerCard();
    const end = await run(wish, card, { title: wish.slice(0, 200).trim() || '-' });
    expect(end.kind).toBe('uncertain');
    expect(readdirSync(runsFolder)).toHaveLength(1);
  });

  it.each([
    ['no word on it', '"completed"'],
    ['another receipt', '"completed","action_status":"performed","receipt_id":"x"'],
    ['no receipt', '"completed","action_status":"performed"'],
    ['uncertain and completed', '"completed","action_status":"uncertain"'],
    ['a receipt of nothing', '"completed","action_status":"not_started","receipt_id":"RECEIPT"'],
  ])('of an action: %s', async (_what, rest) => {
    const end = await run(`{${good},"status":${rest}}`, runnerCard(), external);
    expect(end.kind).toBe('uncertain');
  });

  it('keeps the evidence, for its owner only', async () => {
    await run('I did it.');
    const [name = ''] = readdirSync(runsFolder);
    const folder = join(runsFolder, name);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(folder, 'stdout.txt'), 'utf8')).toBe('I did it.');
    for (const file of readdirSync(folder)) {
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    }
  });
});

const fakeCli = join(import.meta.dirname, '../fixtures/runners/fake-cli.mjs');
const floods = { command: [process.execPath, fakeCli, 'bytes', '65537'] };

describe('a program that does not end well', () => {
  it.each([
    ['exit', { command: [process.execPath, fakeCli, 'exit', '2'] }, 'failed'],
    ['a signal', { command: [process.execPath, fakeCli, 'signal', 'SIGKILL'] }, 'failed'],
    ['time', { command: [process.execPath, fakeCli, 'hang'], timeout: '1s' }, 'failed'],
    ['noise', { command: [process.execPath, fakeCli, 'noise', '70000'] }, 'uncertain'],
    ['no program', { command: ['/no/such/program'] }, 'parked'],
  ])('%s', async (_what, runner, kind) => {
    const end = await run('x', runnerCard({ runner }));
    expect(end.kind).toBe(kind);
    if (end.kind === 'failed') expect(end.retryable).toBe(true);
  });

  it.each([
    ['an exit', 'throw new Error("no disk")', 'its program ended with 1: Error: no disk'],
    [
      'a signal',
      'console.error("no disk"); process.kill(process.pid, "SIGKILL")',
      'its program died by SIGKILL: no disk',
    ],
    [
      'its time',
      'console.error("waiting for the disk"); setInterval(() => {}, 1000)',
      'its program gave no result in time: waiting for the disk',
    ],
    ['an exit without a word', 'process.exit(3)', 'its program ended with 3'],
  ])('says what the program said of %s', async (_what, program, reason) => {
    const runner = { command: [process.execPath, '-e', program], timeout: '1500ms' };
    expect(await run('x', runnerCard({ runner }))).toEqual({
      kind: 'failed',
      reason,
      retryable: true,
    });
  });

  it('is stopped when told', async () => {
    const stop = new AbortController();
    const card = runnerCard({ runner: { command: [process.execPath, fakeCli, 'hang'] } });
    const ending = runtimeOf(card)(runOf('x'), stop.signal);
    stop.abort();
    expect(await ending).toEqual({ kind: 'stopped' });
  });
});

describe('the bots we ship', () => {
  const botCard = (id: string): Card => {
    const bytes = readFileSync(join(catalog, `${id}.card.yaml`));
    const { card } = readCard(`${id}.card.yaml`, bytes, Date.now());
    if (card?.runner === undefined) throw new Error(`${id} is no runner.`);
    const command = card.runner.command.map((word) => word.replaceAll('{catalog}', catalog));
    return { ...card, runner: { ...card.runner, command } };
  };

  it('link-checker finds a broken link', async () => {
    const body = 'Check [this](#no-such-heading) please.';
    const end = await run(body, botCard('link-checker'));
    expect(summaryOf(end)).toMatch(/1 broken/);
  });

  it('repo-report asks where no repository is named', async () => {
    const end = await run('Report, please.', botCard('repo-report'));
    expect(end).toMatchObject({ kind: 'asked', question: { to: 'submitter' } });
  });
});
