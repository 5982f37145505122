import type { TaskState } from '../../fabric/domain/state.ts';
import type { ResultArtifact } from '../../fabric/domain/task.ts';
import type { ArtifactStore } from '../../fabric/ports/artifact-store.ts';

/** The task as its submitter wrote it, with what a refused first result lacked. */
export function wishOf({ task: { intent, correction } }: Pick<TaskState, 'task'>): string {
  const wish = textOf(intent);
  if (correction === undefined) return wish;
  return `${wish}\n\nThe first result was refused: ${correction}`;
}

function textOf({ title, body }: TaskState['task']['intent']): string {
  if (body.trim() === '') return title;
  return body.startsWith(title.replace(/…$/, '').trimEnd()) ? body : `${title}\n\n${body}`;
}

/** The whole text of what a task brought about; undefined where it brought nothing yet. */
export async function resultTextOf(
  { outcome }: TaskState,
  artifacts: ArtifactStore,
): Promise<string | undefined> {
  if (outcome === undefined) return undefined;
  const texts = await Promise.all(
    outcome.artifacts
      .filter(({ mediaType }) => mediaType.startsWith('text/') || mediaType.includes('json'))
      .map((artifact) => artifactText(artifact, artifacts)),
  );
  const known = texts.filter((text) => text !== undefined);
  return known.length === 0 ? outcome.summary : known.join('\n\n');
}

export async function artifactText(
  { text, ref }: Pick<ResultArtifact, 'text' | 'ref'>,
  artifacts: ArtifactStore,
): Promise<string | undefined> {
  if (text !== undefined) return text;
  const sha256 = ref?.startsWith('artifact:') ? ref.slice('artifact:'.length) : undefined;
  const bytes = sha256 === undefined ? undefined : await artifacts.get(sha256);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
}
