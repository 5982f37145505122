import type { TaskDefinition } from '../domain/task.ts';

/**
 * Title and description for people: what was asked, in their own words, then what the result has to
 * satisfy and what it builds on. The log has the text itself; this is how it is shown.
 */
export function shownText(task: TaskDefinition): { title: string; description: string } {
  const { intent, acceptance, correction, contextRefs } = task;
  const parts = [intent.body];
  if (acceptance !== undefined) parts.push(`**Acceptance**\n\n${acceptance}`);
  if (correction !== undefined) parts.push(`**What the last result lacked**\n\n${correction}`);
  if (contextRefs.length > 0) {
    parts.push(`**Context**\n\n${contextRefs.map((ref) => `- ${ref}`).join('\n')}`);
  }
  return { title: storable(intent.title), description: storable(parts.join('\n\n')) };
}

/** Half a surrogate pair makes Kanboard refuse the whole request as no JSON. */
const storable = (text: string): string => text.toWellFormed();
