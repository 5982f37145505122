import { describe, expect, it } from 'vitest';
import { toRemoteTask } from '../../agents/calls/remote-task.ts';
import { errorDetails } from '../../agents/calls/rpc-wire.ts';
import {
  endsWaiting,
  isAtRest,
  stateOf,
  StreamFrame,
  WireTask,
} from '../../agents/calls/wire-task.ts';
import { a2aStates } from '../../fabric/domain/a2a-state.ts';

const status = (state: string) => ({ state });
const remote = (fields: object) => toRemoteTask(WireTask.parse({ id: 'x', ...fields }));

describe('a task as another side answers it', () => {
  it.each(a2aStates)('may be %s with and without the prefix of the wire', (state) => {
    for (const written of [state, `TASK_STATE_${state}`]) {
      const task = WireTask.parse({ id: 'x', status: status(written) });
      expect([stateOf(task), task.status.state]).toEqual([state, written]);
    }
  });

  it.each(['TASK_STATE_JUGGLING', '', 'working'])('is none in the state "%s"', (state) => {
    expect(WireTask.safeParse({ id: 'x', status: status(state) }).success).toBe(false);
    expect(endsWaiting({ task: { id: 'x', status: status(state) } })).toBe(false);
  });

  it('may leave out or null what it has not, and have anything in its metadata', () => {
    const bare = remote({ status: status('WORKING') });
    expect(bare).toEqual({ taskId: 'x', state: 'WORKING', isAtRest: false, result: '' });
    const nulls = { artifacts: null, metadata: null, status: { state: 'WORKING', message: null } };
    expect(remote(nulls)).toEqual(bare);
    for (const metadata of ['text', 7, [], { phase: 7, options: 'none', waits: '' }]) {
      expect(remote({ status: status('WORKING'), metadata })).toEqual(bare);
    }
  });

  it('keeps what nobody reads here', () => {
    const said = {
      id: 'x',
      status: status('WORKING'),
      history: [{ messageId: 'm' }],
      kind: 'task',
    };
    expect(WireTask.parse(said)).toMatchObject(said);
  });

  it('has its artifacts’ pieces as one text, and several artifacts apart', () => {
    const artifacts = [
      { artifactId: 'answer', parts: [{ text: 'Forty' }, { text: '-two' }] },
      { artifactId: 'empty' },
      { artifactId: 'file', parts: [{ url: 'https://a.test/b' }] },
    ];
    const message = { parts: [{ text: 'Which?' }, { text: 'Say.' }] };
    const task = remote({ status: { state: 'COMPLETED', message }, artifacts });
    expect(task).toMatchObject({ result: 'Forty-two\n\nhttps://a.test/b', said: 'Which?\nSay.' });
  });

  it.each([
    ['COMPLETED', {}, true],
    ['REJECTED', {}, true],
    ['INPUT_REQUIRED', {}, true],
    ['WORKING', { phase: 'done' }, true],
    ['WORKING', { phase: 'working' }, false],
    ['SUBMITTED', {}, false],
  ])('%s with %j is at rest: %s', (state, metadata, rests) => {
    const said = { status: status(state), metadata };
    expect(isAtRest(WireTask.parse({ id: 'x', ...said }))).toBe(rests);
    expect(endsWaiting({ task: { id: 'x', ...said } })).toBe(rests);
    expect(endsWaiting({ statusUpdate: { taskId: 'x', ...said } })).toBe(rests);
  });

  it('is told in frames that keep all they have', () => {
    const frame = { statusUpdate: { taskId: 'x', contextId: 'c', status: status('WORKING') } };
    expect(StreamFrame.parse(frame)).toMatchObject(frame);
    for (const other of [undefined, {}, 'text', { message: { parts: [] } }]) {
      expect(endsWaiting(other)).toBe(false);
    }
  });
});

it('reads the details of an error as a list, as one object and as nothing', () => {
  const info = { reason: 'LEASE_LOST', metadata: { taskId: 'x' } };
  const details = (data?: unknown) => errorDetails({ code: 1, message: 'no', data });
  expect(details([7, info])).toMatchObject([info]);
  expect(details(info)).toMatchObject([info]);
  expect([details(), details('text'), details([])]).toEqual([[], [], []]);
});
