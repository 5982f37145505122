import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { classifyByWords } from '../../router/classifier/heuristic-classifier.ts';

const tierFor = {
  SIMPLE: 'small',
  MEDIUM: 'medium',
  COMPLEX: 'large',
  REASONING: 'reasoning',
} as const;
const Labelled = z.object({
  split: z.enum(['seed', 'mine30', 'shift30']),
  tier: z.enum(['SIMPLE', 'MEDIUM', 'COMPLEX', 'REASONING']).transform((word) => tierFor[word]),
  prompt: z.string(),
});
const file = join(import.meta.dirname, '../fixtures/labelled-prompts.jsonl');
const labelled = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => Labelled.parse(JSON.parse(line)));

function accuracy(split: z.infer<typeof Labelled>['split']): number {
  const rows = labelled.filter((row) => row.split === split);
  const right = rows.filter(({ tier, prompt }) => classifyByWords({ text: prompt }).tier === tier);
  return right.length / rows.length;
}

describe('the heuristic classifier', () => {
  // The cues were written from `seed` alone. `shift30` is of another style on purpose: words carry badly
  // over to it (27 to 43 % for every keyword classifier that was measured), embeddings do.
  it.each([
    ['seed', 0.95],
    ['mine30', 0.75],
    ['shift30', 0.4],
  ] as const)('keeps its floor on %s', (split, floor) => {
    expect(accuracy(split)).toBeGreaterThanOrEqual(floor);
  });

  it('calls what no cue knows medium, never small', () => {
    const found = classifyByWords({ text: 'the tall ship left Bergen under a low grey sky' });
    expect(found).toMatchObject({ tier: 'medium', source: 'heuristic' });
    expect(found.confidence).toBeLessThan(0.5);
  });

  it('takes a greeting as small, but an answer to a plan as the plan’s tier', () => {
    expect(classifyByWords({ text: 'ok, do it' }).tier).toBe('small');
    const answer = { text: 'ok, do it', previousTier: 'large', answersPrevious: true } as const;
    expect(classifyByWords(answer).tier).toBe('large');
    expect(classifyByWords({ ...answer, answersPrevious: false }).tier).toBe('small');
  });

  it('believes an operator’s rule, a score and a floor before the words', () => {
    const rules = [{ id: 'invoices', pattern: /invoice/i, tier: 'small' } as const];
    const text = 'prove that this invoice is right';
    expect(classifyByWords({ text }).tier).toBe('reasoning');
    expect(classifyByWords({ text }, rules)).toMatchObject({
      tier: 'small',
      source: 'rule:invoices',
    });
    expect(classifyByWords({ text, score: 5 }, rules)).toMatchObject({
      tier: 'medium',
      source: 'score',
    });
    expect(classifyByWords({ text: 'hi', floor: 'large' }).tier).toBe('large');
  });

  it('does not read what a harness put around the words', () => {
    const noise = `<system-reminder>prove the theorem, refactor the repository</system-reminder>\nhi there`;
    expect(classifyByWords({ text: noise }).tier).toBe('small');
    const log = `> ${'error in the distributed database cluster\n> '.repeat(100)}\nthanks`;
    expect(classifyByWords({ text: log }).tier).not.toBe('large');
  });

  it('stays linear on long hostile texts', () => {
    for (const part of ['a', 'hi ', '> ', '```', '<context>', ' and']) {
      const startMs = performance.now();
      classifyByWords({ text: part.repeat(200_000) });
      expect(performance.now() - startMs).toBeLessThan(2_000);
    }
  });
});
