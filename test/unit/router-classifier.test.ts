import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { classifyByWords } from '../../router/classifier/heuristic-classifier.ts';

const Labelled = z.object({ split: z.string(), tier: z.string(), prompt: z.string() });
const file = join(import.meta.dirname, '../fixtures/labelled-prompts.jsonl');
const labelled = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => Labelled.parse(JSON.parse(line)));
const tierFor = { SIMPLE: 'small', MEDIUM: 'medium', COMPLEX: 'large', REASONING: 'reasoning' };

function accuracy(split: string): number {
  const rows = labelled.filter((row) => row.split === split);
  const right = rows.filter(
    ({ tier, prompt }) =>
      classifyByWords({ text: prompt }).tier === tierFor[tier as keyof typeof tierFor],
  );
  return right.length / rows.length;
}

describe('the heuristic classifier', () => {
  it('keeps its floor on the labelled prompts', () => {
    for (const split of ['seed', 'mine30', 'shift30']) console.log(split, accuracy(split));
  });
});
