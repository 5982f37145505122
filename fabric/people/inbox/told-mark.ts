import type { PersonAct } from '../../kanboard/people/person-act.ts';

/** What a comment of ours ends with; Markdown shows it as nothing, and by it it is found before a repeat. */
const markOf = (what: string): string => `[//]: # (mesh ${what})`;

/** Of the comment that says why an act did nothing. */
export const actMark = ({ activityId }: Pick<PersonAct, 'activityId'>): string =>
  markOf(`a${activityId}`);

/** Of the comment with which an item is put away. */
export const endMark = markOf('ended');

export const withMark = (text: string, mark: string): string => `${text}\n\n${mark}`;

/** Whether one of the mesh's own comments bears it: a person's never counts. */
export const isTold = (
  comments: readonly { readonly userId: number; readonly text: string }[],
  mark: string,
): boolean => comments.some(({ userId, text }) => userId === 0 && text.trimEnd().endsWith(mark));
