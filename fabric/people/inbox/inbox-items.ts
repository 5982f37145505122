import { mayVerify } from '../../domain/access.ts';
import type { TaskEvent } from '../../domain/events.ts';
import { TaskId, type PrincipalId, type QueueId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { TaskState } from '../../domain/state.ts';
import type { AgentPolicy, Directory } from '../../ports/directory.ts';
import { personCalled } from '../person.ts';
import { questionPage, resultPage, type ItemPage } from './inbox-text.ts';

/** What waits for one person, as one board task of their own project. */
export interface InboxItem extends ItemPage {
  readonly uid: TaskId;
  /** The decision's id, or `verify-<version>` of the result. */
  readonly key: string;
  readonly human: PrincipalId;
  /** The queue whose project is the human's inbox. */
  readonly queue: QueueId;
  readonly dueAtMs: number | undefined;
  readonly urgent: boolean;
}

/** Which item a board task is; several people asked the same have one of that name each. */
export interface ItemName {
  readonly uid: TaskId;
  readonly key: string;
}

const Reference = /^mesh:ask:([0-9a-f]{32}):(d-[0-9a-f]{16}|verify-[1-9]\d{0,3})$/;

export const itemReference = ({ uid, key }: ItemName): string => `mesh:ask:${uid}:${key}`;

/** The item that a board task's reference names; undefined for anything else. */
export function itemNameOf(reference: string): ItemName | undefined {
  const [, uid, key] = Reference.exec(reference) ?? [];
  return uid === undefined || key === undefined ? undefined : { uid: TaskId.parse(uid), key };
}

/** A person as Kanboard's user of the same name; undefined for whoever is none. */
export function personOf(directory: Directory, name: string): Principal | undefined {
  const person = personCalled(directory, name);
  return 'why' in person ? undefined : person;
}

/** People who have an inbox: one whose queue somebody else drains, too, would not be theirs alone. */
export const inboxOwners = (directory: Directory): readonly AgentPolicy[] =>
  directory.agents().filter(({ trust, queue }) => trust === 'human' && isAlone(directory, queue));

const isAlone = (directory: Directory, queue: QueueId): boolean =>
  directory.agents().filter((one) => one.queue === queue).length === 1;

/** Whose inbox a queue's project is. */
export function inboxOwnerOf(directory: Directory, queue: QueueId): PrincipalId | undefined {
  const owner: string | undefined = inboxOwners(directory).find(
    (one) => one.queue === queue,
  )?.agentId;
  return owner as PrincipalId | undefined;
}

/**
 * All that a task has waiting for people, each in their own inbox: the open question for each person asked,
 * the result for whom its policy names. What lies in a person's own queue is there already, as itself.
 */
export function inboxItemsOf(
  state: TaskState,
  events: readonly TaskEvent[],
  directory: Directory,
): readonly InboxItem[] {
  const { taskId: uid, queue: ownQueue, question } = state;
  return inboxOwners(directory).flatMap(({ agentId, queue }): InboxItem[] => {
    const person = personOf(directory, agentId);
    if (person === undefined || queue === ownQueue) return [];
    const common = { uid, human: person.id, queue, dueAtMs: state.deadlineAtMs };
    if (question?.to.includes(person.id)) {
      const page = questionPage(state, question, person.id);
      return [{ ...common, ...page, key: question.decisionId, urgent: question.urgent === true }];
    }
    if (!isNamedVerifier(state, person)) return [];
    const page = resultPage(state, person.id);
    return [{ ...common, ...page, key: verificationKey(events), urgent: false }];
  });
}

/**
 * Whom the policy names, not whoever else may: a result that its submitter or a reviewer looks at does not
 * wait for a person. Who made it can't be asked, so their own schedule's work is its person's (`DESIGN.md` 4.3).
 */
export function isNamedVerifier(state: TaskState, person: Principal): boolean {
  if (state.task.verification === 'none' || !mayVerify(state, person)) return false;
  if (state.needsHumanVerify || state.task.verification === 'human') return true;
  const { submitter } = state.task.provenance;
  const isSubmitters = submitter === person.id || submitter === state.producer;
  return state.task.verification === 'submitter' && isSubmitters;
}

/** Named for the event that gave the result, so that it is the same whenever and wherever it is looked at. */
export function verificationKey(events: readonly TaskEvent[]): string {
  const at = events.findLastIndex(
    (event) => event.kind === 'settled' || (event.kind === 'answered' && event.value === 'done'),
  );
  return `verify-${Math.max(0, at) + 1}`;
}
