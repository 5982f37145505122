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

/** Where more people see the project than the task is for (`DESIGN.md` 7): that it is there, and no word of it. */
export function discreetText({ provenance }: TaskDefinition): {
  title: string;
  description: string;
} {
  const whose = provenance.interlocutor ?? provenance.submitter;
  return {
    title: `A task of ${whose}`,
    description: `What it says is for **${whose}**: in their inbox, and by \`mesh show\`.`,
  };
}

/** Half a surrogate pair makes Kanboard refuse the whole request as no JSON. */
const storable = (text: string): string => text.toWellFormed();
