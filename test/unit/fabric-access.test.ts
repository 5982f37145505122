import { describe, expect, it } from 'vitest';
import { mayAnswer, mayCancel, maySee, maySteer, mayVerify } from '../../fabric/domain/access.ts';
import { PrincipalId } from '../../fabric/domain/ids.ts';
import { scopes, type Principal, type Scope } from '../../fabric/domain/principal.ts';
import { phases, type TaskState } from '../../fabric/domain/state.ts';
import { questionTo } from '../support/board-builders.ts';
import { rightEvent } from '../support/right-event.ts';
import { after, taskIn, unroutedTask } from '../support/task-in-phase.ts';

const who = (id: string, role: Principal['role'] = 'human', has?: readonly Scope[]): Principal => ({
  id: PrincipalId.parse(id),
  role,
  trust: role === 'human' ? 'human' : 'trusted',
  scopes: new Set(has ?? scopes.filter((scope) => scope !== 'tasks:read-all' && scope !== 'admin')),
});

/** Submitted by the agent `sales` for `carla`, worked on by `adolf`; `dora` answers for the agent. */
const provenance = {
  ...unroutedTask().provenance,
  submitter: PrincipalId.parse('sales'),
  submitterRole: 'agent' as const,
  interlocutor: PrincipalId.parse('carla'),
};
const change = { provenance, responsible: PrincipalId.parse('dora') };
const task = (phase: Parameters<typeof taskIn>[0], more = {}) =>
  taskIn(phase, { ...change, ...more });

const people = {
  sales: who('sales', 'agent'),
  carla: who('carla'),
  dora: who('dora'),
  adolf: who('adolf', 'agent'),
  critic: { ...who('critic', 'agent'), reviewer: true },
  reviewer: who('reviewer', 'agent'),
  emil: who('emil'),
  auditor: who('auditor', 'human', ['tasks:read-all']),
  admin: who('admin', 'human', ['admin', 'tasks:cancel', 'tasks:read-all']),
} as const;
type Name = keyof typeof people;

const those = (may: (state: TaskState, who: Principal) => boolean, state: TaskState): Name[] =>
  (Object.keys(people) as Name[]).filter((name) => may(state, people[name]));

describe('who may see a task', () => {
  it('is its submitter, its human, its holder, and who may read all', () => {
    expect(those(maySee, task('ready'))).toEqual(['sales', 'carla', 'auditor', 'admin']);
    expect(those(maySee, task('working'))).toEqual(['sales', 'carla', 'adolf', 'auditor', 'admin']);
  });

  it('is the responsible person where it is done for nobody, and only there', () => {
    const { interlocutor: _nobody, ...forNobody } = provenance;
    for (const phase of ['suggested', 'submitted', 'ready', 'working'] as const) {
      expect(those(maySee, task(phase, { provenance: forNobody })), phase).toContain('dora');
      expect(those(maySee, task(phase)), phase).not.toContain('dora');
    }
  });

  it('is the verifier once there is a result', () => {
    expect(those(maySee, task('working'))).not.toContain('critic');
    expect(those(maySee, task('done'))).toContain('critic');
    expect(those(maySee, task('verified'))).toContain('critic');
    for (const other of [{ verification: 'submitter' }, { tainted: true }]) {
      expect(those(maySee, task('done', other))).not.toContain('critic');
    }
  });

  it('is no verifier by its name: its Card says who is', () => {
    expect(those(maySee, task('done'))).not.toContain('reviewer');
  });

  it('is the addressee while the question is open, and after they answered', () => {
    const working = task('working');
    const question = questionTo(['emil']);
    const asked = after(working, rightEvent(working, 'asked', { question }));
    expect(those(maySee, asked)).toContain('emil');
    const by = { id: people.emil.id, role: 'human' as const };
    const answered = after(asked, rightEvent(asked, 'answered', { by }));
    expect(those(maySee, answered)).toContain('emil');
  });

  it('is the owner of its parent', () => {
    expect(maySee(task('ready'), people.emil)).toBe(false);
    expect(maySee(task('ready'), people.emil, 'emil')).toBe(true);
  });
});

describe('who may act on it', () => {
  it('answers: the addressee, with the scope', () => {
    expect(those(mayAnswer, task('needs-review'))).toEqual(['carla']);
    expect(mayAnswer(task('needs-review'), who('carla', 'human', ['tasks:read']))).toBe(false);
    expect(those(mayAnswer, task('ready'))).toEqual([]);
  });

  it.each([
    ['submitter', ['sales', 'carla']],
    ['reviewer', ['sales', 'carla', 'critic']],
    ['human', ['carla']],
    ['none', ['sales', 'carla']],
  ] as const)('verifies under the policy %s: %s', (verification, names) => {
    expect(those(mayVerify, task('done', { verification }))).toEqual(names);
  });

  it('verifies: its person only where it is tainted, and never its producer', () => {
    expect(those(mayVerify, task('done', { tainted: true }))).toEqual(['carla']);
    const own = { provenance: { ...provenance, submitter: PrincipalId.parse('adolf') } };
    expect(those(mayVerify, task('done', { ...own, verification: 'submitter' }))).toEqual([
      'carla',
    ]);
  });

  it('verifies: the responsible person where it was done for nobody', () => {
    const { interlocutor: _nobody, ...rest } = provenance;
    expect(those(mayVerify, task('done', { provenance: rest, verification: 'human' }))).toEqual([
      'dora',
    ]);
  });

  it('verifies nothing that is not finished', () => {
    for (const phase of phases.filter((one) => one !== 'done' && one !== 'approved')) {
      expect(those(mayVerify, task(phase)), phase).toEqual([]);
    }
  });

  it('steers: people whose task it is and administrators; an agent never', () => {
    expect(those(maySteer, task('ready'))).toEqual(['carla', 'admin']);
    const own = { provenance: { ...provenance, submitter: people.emil.id } };
    expect(those(maySteer, task('ready', own))).toEqual(['carla', 'emil', 'admin']);
  });

  it('cancels: submitter, its person and administrators, while it is open', () => {
    expect(those(mayCancel, task('working'))).toEqual(['sales', 'carla', 'admin']);
    for (const phase of ['verified', 'canceled', 'refused', 'split', 'archived'] as const) {
      expect(those(mayCancel, task(phase)), phase).toEqual([]);
    }
    expect(mayCancel(task('ready'), who('sales', 'agent', ['tasks:read']))).toBe(false);
  });
});
