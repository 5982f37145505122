import { maySee } from '../../fabric/domain/access.ts';
import { partsOfContextRef, type ContextRef } from '../../fabric/domain/context-ref.ts';
import { reasonOf } from '../../fabric/domain/errors.ts';
import type { Principal } from '../../fabric/domain/principal.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { ArtifactStore } from '../../fabric/ports/artifact-store.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import { readBelow, type RefText } from './file-ref.ts';
import { readGitRef, type GitRefOptions } from './git-ref.ts';
import { isSharedWith } from './task-owner.ts';
import { artifactText, resultTextOf, wishOf } from './task-text.ts';

/** What a pointer stood for. */
export type ResolvedRef =
  | { readonly ref: ContextRef; readonly kind: 'text'; readonly text: string }
  /** Named to the run, not opened; `note` says why. */
  | { readonly ref: ContextRef; readonly kind: 'listed'; readonly note: string }
  | { readonly ref: ContextRef; readonly kind: 'unresolvable'; readonly reason: string };

export interface ContextRefDeps extends GitRefOptions {
  readonly board: Pick<TaskBoard, 'read' | 'resolve' | 'find'>;
  readonly artifacts: ArtifactStore;
  /** Folders that `file:` may name something in: the home's `files/` first. */
  readonly fileRoots: readonly string[];
}

/** Longest text of one ref, bytes. */
const refBytes = 128 * 1024;

/** Resolves a task's pointers with the authority of whoever submitted it (`DESIGN.md` 2). Never rejects. */
export async function resolveContextRefs(
  deps: ContextRefDeps,
  state: TaskState,
): Promise<readonly ResolvedRef[]> {
  return Promise.all(
    state.task.contextRefs.map(async (ref): Promise<ResolvedRef> => {
      try {
        const resolved = await textOfRef(deps, state, ref);
        if ('note' in resolved) return { ref, kind: 'listed', ...resolved };
        if ('reason' in resolved) return { ref, kind: 'unresolvable', ...resolved };
        if (Buffer.byteLength(resolved.text) <= refBytes) return { ref, kind: 'text', ...resolved };
        return { ref, kind: 'unresolvable', reason: `it has more than ${refBytes} bytes` };
      } catch (error) {
        return { ref, kind: 'unresolvable', reason: reasonOf(error).slice(0, 300) };
      }
    }),
  );
}

async function textOfRef(
  deps: ContextRefDeps,
  state: TaskState,
  ref: ContextRef,
): Promise<RefText> {
  const { kind, value } = partsOfContextRef(ref);
  switch (kind) {
    case 'task':
      return taskText(deps, state, ref);
    case 'artifact':
      return sharedArtifact(deps, state, ref);
    case 'file':
      return readBelow(deps.fileRoots, value, refBytes);
    case 'git':
      return readGitRef(deps, value, refBytes);
    case 'url':
      return { note: 'web addresses are not opened here; ask an agent that reads the web' };
    case 'bank':
      return { note: 'memory banks are not served by this build' };
  }
}

/** The submitter with no right but what each task gives it. */
const submitterOf = ({ task: { provenance } }: TaskState): Principal => ({
  id: provenance.submitter,
  role: provenance.submitterRole,
  trust: provenance.submitterTrust,
  scopes: new Set(),
});

const hidden: RefText = { reason: 'there is no such thing that the submitter may see' };

async function taskText(
  { board, artifacts }: ContextRefDeps,
  state: TaskState,
  ref: ContextRef,
): Promise<RefText> {
  const uid = await board.resolve(ref);
  const other = uid === undefined ? undefined : (await board.read(uid))?.state;
  if (other === undefined) return hidden;
  if (!maySee(other, submitterOf(state)) || !isSharedWith(state, other)) return hidden;
  const result = await resultTextOf(other, artifacts);
  const outcome = result === undefined ? 'It has no result yet.' : `Result:\n${result}`;
  return { text: `${wishOf(other)}\n\n(${other.phase}) ${outcome}` };
}

/** Whoever knows a digest has no right by that alone: a task that the submitter may see must name it. */
async function sharedArtifact(
  { board, artifacts }: ContextRefDeps,
  state: TaskState,
  ref: ContextRef,
): Promise<RefText> {
  const who = submitterOf(state);
  const { states } = await board.find({ principal: who.id, limit: 500 });
  const names = (other: TaskState) =>
    maySee(other, who) &&
    isSharedWith(state, other) &&
    (other.outcome?.artifacts.some((artifact) => artifact.ref === ref) ?? false);
  if (!states.some(names)) return hidden;
  const text = await artifactText({ ref }, artifacts);
  return text === undefined ? { reason: 'its content is not on this host' } : { text };
}
