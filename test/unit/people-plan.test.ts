import { describe, expect, it } from 'vitest';
import { PrincipalId } from '../../fabric/domain/ids.ts';
import { phases, type Phase, type TaskState } from '../../fabric/domain/state.ts';
import type { Question } from '../../fabric/domain/task.ts';
import type { ColumnRole } from '../../fabric/kanboard/board-projects.ts';
import { BoardTask } from '../../fabric/kanboard/kanboard-rows.ts';
import type { PersonAct } from '../../fabric/kanboard/people/person-act.ts';
import { shownText } from '../../fabric/kanboard/shown-text.ts';
import { planFor } from '../../fabric/people/plan-act.ts';
import type { Plan } from '../../fabric/people/plan.ts';
import { questionTo } from '../support/board-builders.ts';
import { taskIn } from '../support/task-in-phase.ts';

const alvis = PrincipalId.parse('alvis');
const berta = PrincipalId.parse('berta');

/** The board task as it shows `state`, but for what a person wrote into it. */
function rowOf(state: TaskState, change: Record<string, unknown> = {}): BoardTask {
  return BoardTask.parse({
    ...{ id: 1, project_id: 1, column_id: 1, swimlane_id: 1, owner_id: 0, creator_id: 1 },
    ...{ reference: `mesh:${state.taskId}`, score: state.score, priority: state.priority },
    ...{ date_due: 0, date_modification: 1, position: 1, is_active: 1 },
    ...shownText(state.task),
    ...change,
  });
}

const planOf = (state: TaskState, did: PersonAct['did'], change = {}, person = alvis): Plan =>
  planFor({ did, row: rowOf(state, change) }, state, person);

/** A plan in one word, for a table. */
function word(plan: Plan): string {
  if (plan.kind !== 'commands') return plan.kind === 'nothing' ? '-' : 'no';
  return plan.commands.map((one) => (one.do === 'takeBack' ? `back:${one.to}` : one.do)).join('+');
}

const acts = {
  ready: { kind: 'moved', from: undefined, to: 'ready' },
  waiting: { kind: 'moved', from: undefined, to: 'waiting' },
  working: { kind: 'moved', from: undefined, to: 'working' },
  done: { kind: 'moved', from: undefined, to: 'done' },
  closed: { kind: 'closed' },
  reopened: { kind: 'reopened' },
} as const satisfies Record<string, PersonAct['did']>;

/** To Ready, Backlog, Work in progress, Done; closed; reopened. */
const table: Readonly<Record<Phase, readonly [string, string, string, string, string, string]>> = {
  suggested: ['letIn', '-', 'no', 'no', 'archive', '-'],
  submitted: ['letIn', '-', 'no', 'no', 'cancel', '-'],
  ready: ['-', 'back:paused', 'no', 'no', 'cancel', '-'],
  scheduled: ['-', 'back:paused', 'no', 'no', 'cancel', '-'],
  paused: ['letIn', '-', 'no', 'no', 'cancel', '-'],
  claimed: ['back:ready', 'back:paused', '-', 'no', 'cancel', '-'],
  working: ['back:ready', 'back:paused', '-', 'no', 'cancel', '-'],
  'waiting-event': ['no', 'no', '-', 'no', 'cancel', '-'],
  'input-required': ['no', 'no', '-', 'no', 'cancel', '-'],
  'needs-review': ['no', 'no', '-', 'no', 'cancel', '-'],
  done: ['refuse', 'no', 'no', '-', 'verify', '-'],
  reviewing: ['no', 'no', 'no', '-', 'no', '-'],
  approved: ['refuse', 'no', 'no', '-', 'verify', '-'],
  deploying: ['no', 'no', 'no', '-', 'no', '-'],
  'deploy-failed': ['no', 'no', 'no', '-', 'no', '-'],
  verified: ['rework', 'no', 'no', '-', '-', 'rework'],
  refused: ['rework', 'no', 'no', '-', '-', 'rework'],
  'dead-letter': ['rework', '-', 'no', 'no', 'archive', '-'],
  canceled: ['rework', 'no', 'no', 'no', '-', 'rework'],
  rejected: ['rework', 'no', 'no', 'no', '-', 'rework'],
  split: ['rework', 'no', 'no', 'no', '-', 'rework'],
  archived: ['rework', 'no', 'no', 'no', '-', 'rework'],
};

describe('a drag, a closing or a reopening', () => {
  it.each(phases)('of a task that is %s means one thing, or is refused', (phase) => {
    const state = taskIn(phase);
    expect(Object.values(acts).map((did) => word(planOf(state, did)))).toEqual(table[phase]);
  });

  it('is refused with what to do instead, in whole sentences', () => {
    for (const phase of phases) {
      for (const did of Object.values(acts)) {
        const plan = planOf(taskIn(phase), did);
        if (plan.kind === 'refusal') expect(plan.why).toMatch(/^[A-Z].*[.!]$/);
      }
    }
  });

  it('has what ended without verification done anew, and once only', () => {
    const unverified = taskIn('done', { verification: 'none' });
    expect(word(planOf(unverified, acts.ready))).toBe('rework');
    const { taskId } = taskIn('ready');
    const again = { ...unverified, links: [{ relation: 'rework', taskId }] };
    expect(word(planOf(again, acts.ready))).toBe('no');
  });

  it.each<ColumnRole | undefined>([undefined, 'approved', 'rejected'])(
    'into a column that a queue does not have (%s) is refused',
    (to) => {
      expect(word(planOf(taskIn('ready'), { kind: 'moved', from: 'ready', to }))).toBe('no');
    },
  );
});

const asking = (question: Partial<Question>): TaskState => ({
  ...taskIn('input-required'),
  question: questionTo(['alvis'], question),
});

describe('a comment', () => {
  const id = 'd-0123456789abcdef';
  const free = asking({});
  const gate = asking({ kind: 'gate', options: ['approve', 'reject'] });
  const said = (state: TaskState, text: string, person = alvis) =>
    planOf(state, { kind: 'commented', commentId: 1, text }, {}, person);
  const answers = (value: string, note?: string, decisionId = id) => ({
    kind: 'commands',
    commands: [{ do: 'answer', decisionId, value, ...(note === undefined ? {} : { note }) }],
  });

  it.each([
    [free, '/answer the second', answers('the second')],
    [free, `/answer ${id} the second\r\nand the third`, answers('the second\nand the third')],
    [free, 'the second', answers('the second')],
    [asking({ options: ['First'] }), ' first ', answers('First')],
    [gate, '/approve', answers('approve')],
    [gate, '/Approve  looks good', answers('approve', 'looks good')],
    [gate, `/reject ${id}`, answers('reject')],
    [asking({ kind: 'gate', options: ['yes', 'no'] }), '/reject not now', answers('no', 'not now')],
    [asking({ kind: 'reconcile', options: ['ready'] }), '/answer Ready', answers('ready')],
    [
      taskIn('ready'),
      '/answer d-00000000000000aa late',
      answers('late', undefined, 'd-00000000000000aa'),
    ],
  ])('of the one who is asked answers (%#)', (state, text, plan) => {
    expect(said(state, text)).toEqual(plan);
  });

  it.each(['/answer yes', `/answer ${id} yes`, '/approve', '/reject'])(
    'of somebody else does not (%s), and says who is asked',
    (text) => {
      const plan = said(gate, text, berta);
      expect(plan).toMatchObject({ kind: 'refusal' });
      expect(plan.kind === 'refusal' && plan.why).toContain('**alvis**');
    },
  );

  it('in plain words decides nothing: it is a remark', () => {
    expect(word(said(gate, 'approve'))).toBe('note');
    expect(word(said(free, 'I would say the first', berta))).toBe('note');
    expect(word(said(taskIn('working'), 'Mind the second host.'))).toBe('note');
  });

  it('on a result or an ended task is nothing until somebody drags it back', () => {
    for (const phase of ['done', 'verified', 'canceled'] as const) {
      expect(word(said(taskIn(phase), 'It lacks a table.'))).toBe('-');
    }
  });

  it('with an order that is none, or an answer without words or question, is refused', () => {
    for (const text of ['/aprove', '/answer', `/answer ${id}`]) {
      expect(word(said(free, text))).toBe('no');
    }
    expect(word(said(taskIn('ready'), '/approve'))).toBe('no');
  });

  it('that repeats the last answer changes nothing', () => {
    const { decisions, ...state } = taskIn('ready');
    const given = { decisionId: free.question!.decisionId, kind: 'gate', text: '?' } as const;
    const after = {
      ...state,
      decisions: [...decisions, { ...given, value: 'yes', by: alvis, atMs: 1 }],
    };
    expect(word(said(after, '/answer yes'))).toBe('-');
    expect(word(said(after, '/answer no'))).toBe('no');
  });

  it('cancels, with its reason', () => {
    expect(said(taskIn('working'), '/cancel no need')).toEqual({
      kind: 'commands',
      commands: [{ do: 'cancel', reason: 'no need' }],
    });
  });
});

describe('an edit', () => {
  const edited = (state: TaskState, change: Record<string, unknown>, person = alvis) =>
    planOf(state, { kind: 'edited', fields: Object.keys(change) }, change, person);
  const edits = (edit: Record<string, unknown>) => ({
    kind: 'commands',
    commands: [{ do: 'edit', edit }],
  });

  it('takes what was written, and nothing that stands as it was', () => {
    const state = taskIn('ready');
    const due = Date.UTC(2030, 0, 2, 3, 4);
    expect(edited(state, { score: 8, priority: 1, date_due: due / 1_000 })).toEqual(
      edits({ score: 8, priority: 1, deadlineAtMs: due }),
    );
    expect(edited({ ...state, deadlineAtMs: due }, { date_due: 0 })).toEqual(
      edits({ deadlineAtMs: null }),
    );
    expect(edited(state, { score: state.score, owner_id: 4 })).toEqual({ kind: 'nothing' });
    expect(edited(state, { title: 'Another' })).toEqual(edits({ title: 'Another' }));
  });

  it('changes the words above acceptance and context, which stay', () => {
    const state = taskIn('ready', { acceptance: 'All green.' });
    const { description } = shownText(state.task);
    const other = description.replace(state.task.intent.body, 'Other\nwords.');
    expect(edited(state, { description: other.replaceAll('\n', '\r\n') })).toEqual(
      edits({ body: 'Other\nwords.' }),
    );
    expect(word(edited(state, { description: 'Other words.' }))).toBe('no');
  });

  it.each([
    [{ score: 4 }, /A score is/],
    [{ priority: 7 }, /A priority is/],
    [{ title: 'x'.repeat(201) }, /at most 200/],
  ])('that the mesh can’t take is refused: %o', (change, why) => {
    expect(edited(taskIn('ready'), change)).toMatchObject({
      why: expect.stringMatching(why) as string,
    });
  });

  it.each(['claimed', 'working', 'done', 'verified'] as const)('is too late while %s', (phase) => {
    expect(edited(taskIn(phase), { title: 'Late' })).toMatchObject({
      why: expect.stringContaining('A run has begun') as string,
    });
    expect(edited(taskIn(phase), { score: 8 })).toMatchObject({
      why: expect.stringContaining('count until') as string,
    });
  });

  it('of the score that was asked for is the answer, of whom it was asked', () => {
    const state = asking({ kind: 'rating', options: ['1', '2', '3'] });
    const answer = { do: 'answer', decisionId: state.question!.decisionId, value: '3' };
    expect(edited(state, { score: 3 })).toEqual({ kind: 'commands', commands: [answer] });
    expect(word(edited(state, { score: 3, priority: 1 }))).toBe('answer+edit');
    expect(word(edited(state, { score: 3 }, berta))).toBe('no');
  });
});
