import { describe, expect, it } from 'vitest';
import { SubmitExtension } from '../../agents/a2a/submit-extension.ts';
import { targetOf, toSubmission } from '../../cli/submission.ts';
import { extensionUris } from '../../cards/agent-card/agent-card-source.ts';
import { textOfSubmission, type SubmissionOptions } from '../../cli/submission-options.ts';
import { typedTerminal } from '../support/typed-terminal.ts';

const facts = { nowMs: Date.UTC(2026, 10, 30), messageId: 'm-1', verification: 'submitter' };

const extensionOf = (target: string, options: SubmissionOptions) => {
  const { message } = toSubmission(target, 'Do it', options, facts);
  return (message['metadata'] as Record<string, unknown>)[extensionUris.submit];
};

describe('a submit from the command line', () => {
  it('says everything in the words that the edge parses', () => {
    const wire = extensionOf('any', {
      tier: 'large',
      tools: true,
      minContext: 64_000,
      cost: ['free-local'],
      score: 5,
      priority: 1,
      deadline: { inMs: 3_600_000 },
      notBefore: { atMs: facts.nowMs + 60_000 },
      ref: ['git:plans@HEAD#plan.md'],
      acceptance: 'Every finding names a line',
      effects: 'none',
      onUnavailable: 'reject',
      model: 'm',
      effort: 'high',
    });
    const parsed = SubmitExtension.parse(wire);
    expect(parsed).toMatchObject({
      target: {
        kind: 'constraints',
        need: { tier: 'large', tools: true, minContextTokens: 64_000, cost: ['free-local'] },
      },
      score: 5,
      priority: 1,
      deadline: facts.nowMs + 3_600_000,
      notBefore: facts.nowMs + 60_000,
      verification: 'submitter',
      execution: { model: 'm', effort: 'high' },
    });
  });

  it.each<[SubmissionOptions, string]>([
    [{ deadline: { atMs: facts.nowMs - 1 } }, '--deadline 2026-11-29T23:59:59.999Z is past'],
    [{ deadline: { inMs: 3_600_000 }, notBefore: { inMs: 7_200_000 } }, 'could take it in time'],
    [{ deadline: { inMs: 3_600_000 }, notBefore: { inMs: 3_600_000 } }, 'could take it in time'],
  ])('refuses times that nobody can keep: %j', (options, words) => {
    expect(() => toSubmission('adolf', 'x', options, facts)).toThrow(words);
  });

  it('sends a pinned task to its agent and names no target, auto and any to the router', () => {
    expect(toSubmission('adolf', 'x', {}, facts).agentId).toBe('adolf');
    expect(extensionOf('adolf', {})).toEqual({ verification: 'submitter' });
    expect(toSubmission('auto', 'x', {}, facts).agentId).toBeUndefined();
    expect(SubmitExtension.parse(extensionOf('auto', {})).target).toEqual({ kind: 'auto' });
  });

  it('leaves it to the Card who verifies, where neither verb nor option says it', () => {
    const { verification: _none, ...unsaid } = facts;
    const wireOf = (options: SubmissionOptions) =>
      toSubmission('adolf', 'x', options, unsaid).message['metadata'];
    expect(wireOf({})).toEqual({ [extensionUris.submit]: {} });
    expect(wireOf({ verification: 'human' })).toEqual({
      [extensionUris.submit]: { verification: 'human' },
    });
  });

  it('refuses what an agent must have where the agent is chosen already', () => {
    expect(() => targetOf('adolf', { tier: 'large' })).toThrow(/adolf is chosen already/);
    expect(() => targetOf('Adolf!', {})).toThrow(/"Adolf!" is no target/);
  });

  it('takes the text from words, from standard input or from a file, and only from one', async () => {
    const piped = typedTerminal({ input: 'from a pipe\n' });
    expect(await textOfSubmission(['two', 'words'], undefined, piped)).toBe('two words');
    expect(await textOfSubmission([], undefined, piped)).toBe('from a pipe\n');
    expect(await textOfSubmission(['-'], undefined, piped)).toBe('from a pipe\n');
    expect(await textOfSubmission([], import.meta.filename, piped)).toContain('from a pipe');
    await expect(textOfSubmission(['x'], 'f', piped)).rejects.toThrow(/not both/);
    await expect(textOfSubmission([], undefined, typedTerminal())).rejects.toThrow(/has no text/);
    await expect(textOfSubmission([], '/no/such', piped)).rejects.toThrow(
      /\/no\/such can't be read/,
    );
  });
});
