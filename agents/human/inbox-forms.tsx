import type { TaskState } from '../../fabric/domain/state.ts';
import type { InboxItem } from '../../fabric/queue/inbox.ts';

export interface ActProps {
  readonly kind: InboxItem['kind'];
  readonly state: TaskState;
  readonly csrf: string;
  /** The page shows the whole result by itself. */
  readonly resultBelow?: boolean;
}

/** Ids outlive a live update, so that focus and what is being typed do too. */
const noteId = ({ taskId }: TaskState): string => `note-${taskId}`;
const buttonId = ({ taskId }: TaskState, place: number): string => `do-${taskId}-${place}`;

/** What the person can do with it, and the words of the question they would answer. */
export const Act = ({ kind, state, csrf, resultBelow = false }: ActProps) => {
  if (kind === 'question') return <AnswerForm state={state} csrf={csrf} />;
  if (kind === 'verify') {
    return <VerifyForm state={state} csrf={csrf} resultBelow={resultBelow} />;
  }
  if (kind === 'givenUp') return <GivenUp state={state} csrf={csrf} />;
  return (
    <>
      <pre>{state.task.provenance.submitter} submitted it and may not start it alone.</pre>
      <form method="post" action={`/inbox/tasks/${state.taskId}/steer`}>
        <input type="hidden" name="csrf" value={csrf} />
        <button id={buttonId(state, 0)} class="go" name="do" value="admit">
          Let it in
        </button>
        <button id={buttonId(state, 1)} class="stop" name="do" value="cancel">
          Cancel it
        </button>
      </form>
    </>
  );
};

const GivenUp = ({ state, csrf }: Omit<ActProps, 'kind'>) => (
  <>
    <pre>{state.failure ?? 'No reason is on record.'}</pre>
    <form method="post" action={`/inbox/tasks/${state.taskId}/steer`}>
      <input type="hidden" name="csrf" value={csrf} />
      <button id={buttonId(state, 0)} class="stop" name="do" value="archive">
        Put it away
      </button>
    </form>
  </>
);

const stops = new Set(['reject', 'cancel', 'canceled', 'dead-letter', 'no']);

const AnswerForm = ({ state, csrf }: { state: TaskState; csrf: string }) => {
  const { question } = state;
  if (question === undefined) return null;
  const free = question.options.length === 0;
  return (
    <>
      <pre>{question.text}</pre>
      <form method="post" action={`/inbox/tasks/${state.taskId}/answer`}>
        <input type="hidden" name="csrf" value={csrf} />
        <input type="hidden" name="decisionId" value={question.decisionId} />
        {free ? (
          <label>
            Your answer
            <textarea id={noteId(state)} name="value" rows={3} required maxlength={4000}></textarea>
          </label>
        ) : (
          <label>
            A note (optional)
            <input id={noteId(state)} type="text" name="note" maxlength={4000} />
          </label>
        )}
        {free ? (
          <button id={buttonId(state, 0)} class="go" type="submit">
            Send the answer
          </button>
        ) : (
          question.options.map((option, place) => (
            <button
              id={buttonId(state, place)}
              name="value"
              value={option}
              class={stops.has(option) ? 'stop' : 'go'}
            >
              {option}
            </button>
          ))
        )}
      </form>
    </>
  );
};

const VerifyForm = ({ state, csrf, resultBelow }: Omit<ActProps, 'kind'>) => (
  <>
    <pre>{resultBelow ? 'It is done; the result is below.' : state.outcome?.summary}</pre>
    <form method="post" action={`/inbox/tasks/${state.taskId}/verify`}>
      <input type="hidden" name="csrf" value={csrf} />
      <label>
        A note (needed to refuse)
        <input id={noteId(state)} type="text" name="note" maxlength={4000} />
      </label>
      <button id={buttonId(state, 0)} class="go" name="verdict" value="verified">
        Verify and close
      </button>
      <button id={buttonId(state, 1)} class="stop" name="verdict" value="refused">
        Refuse
      </button>
    </form>
  </>
);
