import { describe, expect, it } from 'vitest';
import { InvalidValueError } from '../../fabric/domain/errors.ts';
import { AgentId, ContextId, PrincipalId, QueueId } from '../../fabric/domain/ids.ts';
import { parsedAs } from '../../fabric/domain/parsed-as.ts';

describe("a person's word as an id", () => {
  it.each([
    [AgentId, 'adolf'],
    [QueueId, 'night-work'],
    [ContextId, 'Any text'],
    [PrincipalId, 'Any one'],
  ])('is taken where it is one', (schema, text) => {
    expect(parsedAs(schema, text, 'it')).toBe(text);
  });

  it.each([
    [
      AgentId,
      'Bad Name',
      'agent can\'t be "Bad Name": an agent id is .* at most 48\\. Such as: bad-name$',
    ],
    [AgentId, 'Bad_Name', 'Such as: bad-name$'],
    [AgentId, 'Jürgen!', 'Such as: jurgen$'],
    [AgentId, '9 lives', 'Such as: lives$'],
    [AgentId, '', 'agent can\'t be "": an agent id is .* at most 48\\.$'],
    [AgentId, 'ї', 'at most 48\\.$'],
    [AgentId, `${'a'.repeat(60)}\n{"code":1}`, `"${'a'.repeat(60)}…": an agent id is [^{]*$`],
    [QueueId, 'Q 1', 'a queue name is .*Such as: q-1$'],
    [ContextId, '', 'agent can\'t be "": [^{[]*$'],
    [PrincipalId, 'x'.repeat(65), 'agent can\'t be "x+…": [^{[]*$'],
  ])('is refused in words, with what was meant: %#', (schema, text, words) => {
    const wrong = () => parsedAs(schema, text, 'agent');
    expect(wrong).toThrow(InvalidValueError);
    expect(wrong).toThrow(new RegExp(words, 's'));
  });
});
