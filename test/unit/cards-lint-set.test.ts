import { describe, expect, it } from 'vitest';
import { isError } from '../../cards/schema/card-problem.ts';
import { lintSet } from '../../cards/schema/lint-set.ts';
import { readCard } from '../../cards/schema/read-card.ts';
import { cardBytes, operatorFields } from '../support/card-yaml.ts';

type Fields = Readonly<Record<string, unknown>>;

function problemsOf(cards: readonly Fields[], defaultHuman = 'operator') {
  const all = [operatorFields, ...cards].map((fields) => {
    const { problems, ...reading } = readCard(
      `cards/${String(fields['id'])}.card.yaml`,
      bytesOf(fields),
      1,
    );
    expect(problems.filter(isError)).toEqual([]);
    return { problems, ...reading };
  });
  const facts = { personas: new Set(['personas/adolf.md']), defaultHuman };
  return lintSet(all, facts).map(({ file, code, path }) => `${file} ${code} ${path}`);
}

const bytesOf = (fields: Fields) => cardBytes({ persona: undefined, needs: undefined, ...fields });
const bot = (id: string, change: Fields = {}): Fields => ({
  id,
  runtime: 'runner',
  runner: { command: ['node', 'bot.mjs'] },
  ...change,
});
const endpoint = (id: string, change: Fields = {}): Fields => ({
  id,
  tier: 'small',
  cost: 'flat-quota',
  model: { gateway: 'pool', contextTokens: 1_000 },
  ...change,
});

describe('rules across Cards', () => {
  it('finds nothing in a sound home', () => {
    expect(problemsOf([bot('one', { mayCall: ['two', '*'] }), bot('two')])).toEqual([]);
  });

  it.each([
    ['an unknown callee', { mayCall: ['ghost'] }, 'UNKNOWN_AGENT mayCall[0]'],
    ['an unknown admitted', { admit: ['trusted', 'ghost'] }, 'UNKNOWN_AGENT admit[1]'],
    ['an unknown human', { responsibleHuman: 'ghost' }, 'UNKNOWN_HUMAN responsibleHuman'],
    ['a bot as human', { responsibleHuman: 'one' }, 'UNKNOWN_HUMAN responsibleHuman'],
    ['an unknown grant', { optIn: { metered: ['operator'] } }, 'UNKNOWN_AGENT optIn.metered[0]'],
    ['a missing persona', { persona: 'personas/ghost.md' }, 'PERSONA_FILE persona'],
    [
      'an unknown target',
      { schedules: [{ id: 's', cron: '0 8 * * *', zone: 'UTC', title: 't', target: 'ghost' }] },
      'UNKNOWN_AGENT schedules[0].target',
    ],
  ])('refuses %s', (_name, change, expected) => {
    expect(problemsOf([bot('one', change)])).toEqual([`cards/one.card.yaml ${expected}`]);
  });

  it('takes a principal without a Card by its prefix', () => {
    expect(problemsOf([bot('one', { admit: ['principal:ci'] })])).toEqual([]);
  });

  it('gives a port and a queue to one Card only', () => {
    const shared = { port: 4_800, queue: { project: 'common' } };
    expect(problemsOf([bot('one', shared), bot('two', shared)])).toEqual([
      'cards/two.card.yaml DUPLICATE_PORT port',
      'cards/two.card.yaml DUPLICATE_QUEUE queue.project',
    ]);
  });

  it('lets no pool hold two cost classes', () => {
    const free = endpoint('two', { cost: 'free-local' });
    expect(problemsOf([endpoint('one'), free])).toEqual(['cards/two.card.yaml POOL_COST cost']);
  });

  it('wants one quota told by all who share it', () => {
    const quota = (cap: number) => ({
      gateway: 'pool',
      contextTokens: 1,
      windows: [{ id: 'week', cap, length: '7d', scope: 'plan' }],
    });
    expect(
      problemsOf([endpoint('one', { model: quota(300) }), endpoint('two', { model: quota(300) })]),
    ).toEqual([]);
    expect(
      problemsOf([endpoint('one', { model: quota(300) }), endpoint('two', { model: quota(301) })]),
    ).toEqual(['cards/two.card.yaml QUOTA_SCOPE model.windows[0]']);
  });

  it('wants the default human to be a person here', () => {
    const told = ['mesh.yaml UNKNOWN_HUMAN defaultHuman'];
    expect(problemsOf([], 'nobody')).toEqual(told);
    const many = ['one', 'two', 'three'].map((id) => bot(id));
    expect(problemsOf(many, 'nobody')).toEqual(told);
    expect(problemsOf(many, 'one')).toEqual(told);
  });
});
