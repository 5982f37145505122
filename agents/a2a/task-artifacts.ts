import type { Artifact, Part } from '@a2a-js/sdk';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { ResultArtifact } from '../../fabric/domain/task.ts';
import type { ArtifactStore } from '../../fabric/ports/artifact-store.ts';

/** Largest kept artifact that is put into an answer as a text, bytes; a larger one goes as an address. */
const mostInlineBytes = 256 * 1024;

/** Name of the artifact that a running answer grows in. */
export const answerArtifactId = 'answer';

export interface ArtifactSource {
  readonly artifacts: ArtifactStore;
  /** The persona's own address, with a slash at the end. */
  readonly baseUrl: string;
}

/** What a task has made so far: its outcome's artifacts, else the running answer. */
export async function artifactsOf(
  source: ArtifactSource,
  state: TaskState,
  runningText: string,
): Promise<Artifact[]> {
  const { outcome } = state;
  if (outcome === undefined) {
    return runningText === '' ? [] : [artifact(answerArtifactId, [textPart(runningText)])];
  }
  // An outcome that names no artifact has said everything in its summary.
  if (outcome.artifacts.length === 0) {
    return [artifact(answerArtifactId, [textPart(outcome.summary)])];
  }
  return Promise.all(outcome.artifacts.map((result) => toArtifact(source, state, result)));
}

async function toArtifact(
  source: ArtifactSource,
  state: TaskState,
  result: ResultArtifact,
): Promise<Artifact> {
  const { artifactId, name = '', ref } = result;
  const parts = [await partOf(source, state, result)];
  const metadata = ref === undefined ? undefined : { ref, bytes: result.bytes };
  return { ...artifact(artifactId, parts), name, metadata };
}

async function partOf(
  { artifacts, baseUrl }: ArtifactSource,
  state: TaskState,
  { artifactId, text, ref, mediaType, bytes, name = '' }: ResultArtifact,
): Promise<Part> {
  if (text !== undefined) return textPart(text, mediaType);
  const sha256 = ref?.startsWith('artifact:') ? ref.slice('artifact:'.length) : undefined;
  // A commit is named, never copied.
  if (sha256 === undefined) return textPart(ref ?? '', 'text/plain');
  if (bytes <= mostInlineBytes && isText(mediaType)) {
    const content = await artifacts.get(sha256);
    if (content) return textPart(new TextDecoder().decode(content), mediaType);
  }
  const url = `${baseUrl}artifacts/${state.taskId}/${encodeURIComponent(artifactId)}`;
  return part({ $case: 'url', value: url }, mediaType, name);
}

const isText = (mediaType: string): boolean =>
  mediaType.startsWith('text/') || /[/+](json|xml|yaml)$/.test(mediaType);

export const textPart = (value: string, mediaType = 'text/plain'): Part =>
  part({ $case: 'text', value }, mediaType);

function part(content: NonNullable<Part['content']>, mediaType: string, filename = ''): Part {
  return { content, mediaType, filename, metadata: undefined };
}

export function artifact(artifactId: string, parts: Part[]): Artifact {
  return {
    artifactId,
    parts,
    name: artifactId,
    description: '',
    metadata: undefined,
    extensions: [],
  };
}
