import type { Child } from 'hono/jsx';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { InboxItem } from '../../fabric/queue/inbox.ts';

interface Viewer {
  readonly name: string;
  readonly csrf: string;
  readonly nowMs: number;
}

const Page = ({ title, name, children }: { title: string; name?: string; children: Child }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{title}</title>
      <link rel="stylesheet" href="/inbox/inbox.css" />
      {name === undefined ? null : <script src="/inbox/inbox.js" defer></script>}
    </head>
    <body>
      {children}
      {name === undefined ? null : (
        <footer class="soft">
          <kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>Enter</kbd> open · <kbd>u</kbd> back to
          the inbox
        </footer>
      )}
    </body>
  </html>
);

/** The link's landing page: a press of a button uses it up, so that a link preview does not. */
export const LoginPage = ({ name, linkKey }: { name: string; linkKey: string }) => (
  <Page title="Open the inbox">
    <main>
      <h1>Inbox of {name}</h1>
      <p>This link opens the inbox once, in this browser.</p>
      <form method="post" action="/inbox/login">
        <input type="hidden" name="key" value={linkKey} />
        <button class="go" type="submit" autofocus>
          Open the inbox
        </button>
      </form>
    </main>
  </Page>
);

export const NoticePage = ({ title, text }: { title: string; text: string }) => (
  <Page title={title}>
    <main>
      <h1>{title}</h1>
      <p class="notice" role="alert">
        {text}
      </p>
      <p>
        <a href="/inbox">Back to the inbox</a>
      </p>
    </main>
  </Page>
);

export const InboxPage = ({ items, viewer }: { items: readonly InboxItem[]; viewer: Viewer }) => (
  <Page title={items.length > 0 ? `(${items.length}) Inbox` : 'Inbox'} name={viewer.name}>
    <header>
      <h1>Waiting for {viewer.name}</h1>
      <Logout csrf={viewer.csrf} />
    </header>
    <main>
      <ItemList items={items} viewer={viewer} />
    </main>
  </Page>
);

const Logout = ({ csrf }: { csrf: string }) => (
  <form method="post" action="/inbox/logout">
    <input type="hidden" name="csrf" value={csrf} />
    <button type="submit">Log out</button>
  </form>
);

/** The part that live updates replace. */
export const ItemList = ({ items, viewer }: { items: readonly InboxItem[]; viewer: Viewer }) =>
  items.length === 0 ? (
    <ol class="items" id="items" aria-live="polite">
      <p class="empty">Nothing waits for you.</p>
    </ol>
  ) : (
    <ol class="items" id="items" aria-live="polite">
      {items.map((item) => (
        <Item item={item} viewer={viewer} />
      ))}
    </ol>
  );

const kindWords: Readonly<Record<InboxItem['kind'], string>> = {
  question: 'Question',
  verify: 'Result to verify',
  admit: 'Task to let in',
};

const Item = ({ item: { kind, state }, viewer }: { item: InboxItem; viewer: Viewer }) => (
  <li>
    <span class="kind">
      {state.question?.urgent ? <span class="urgent">Urgent · </span> : null}
      {kindWords[kind]} · {state.agentId ?? 'router'} · <Ago ms={viewer.nowMs - state.phaseAtMs} />
    </span>
    <h2>
      <a href={`/inbox/tasks/${state.taskId}`} id={`t-${state.taskId}`}>
        {state.task.intent.title}
      </a>
    </h2>
    <Act kind={kind} state={state} csrf={viewer.csrf} />
  </li>
);

const Ago = ({ ms }: { ms: number }) => {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 1) return <time>just now</time>;
  if (minutes < 60) return <time>{minutes} min ago</time>;
  const hours = Math.floor(minutes / 60);
  return <time>{hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`}</time>;
};

/** What the person can do with it, and the words of the question they would answer. */
const Act = ({
  kind,
  state,
  csrf,
}: {
  kind: InboxItem['kind'];
  state: TaskState;
  csrf: string;
}) => {
  if (kind === 'question') return <AnswerForm state={state} csrf={csrf} />;
  if (kind === 'verify') return <VerifyForm state={state} csrf={csrf} />;
  return (
    <>
      <pre>{state.task.provenance.submitter} submitted it and may not start it alone.</pre>
      <form method="post" action={`/inbox/tasks/${state.taskId}/admit`}>
        <input type="hidden" name="csrf" value={csrf} />
        <button class="go" name="do" value="admit">
          Let it in
        </button>
        <button class="stop" name="do" value="cancel">
          Cancel it
        </button>
      </form>
    </>
  );
};

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
            <textarea name="value" rows={3} required maxlength={4000}></textarea>
          </label>
        ) : (
          <label>
            A note (optional)
            <input type="text" name="note" maxlength={4000} />
          </label>
        )}
        {free ? (
          <button class="go" type="submit">
            Send the answer
          </button>
        ) : (
          question.options.map((option) => (
            <button name="value" value={option} class={stops.has(option) ? 'stop' : 'go'}>
              {option}
            </button>
          ))
        )}
      </form>
    </>
  );
};

const VerifyForm = ({ state, csrf }: { state: TaskState; csrf: string }) => (
  <>
    <pre>{state.outcome?.summary}</pre>
    <form method="post" action={`/inbox/tasks/${state.taskId}/verify`}>
      <input type="hidden" name="csrf" value={csrf} />
      <label>
        A note (needed to refuse)
        <input type="text" name="note" maxlength={4000} />
      </label>
      <button class="go" name="verdict" value="verified">
        Verify and close
      </button>
      <button class="stop" name="verdict" value="refused">
        Refuse
      </button>
    </form>
  </>
);

export interface TaskPageFacts {
  readonly state: TaskState;
  readonly kind: InboxItem['kind'] | undefined;
  /** One sentence: what it waits for. */
  readonly waits: string;
  readonly artifacts: readonly { readonly name: string; readonly text: string }[];
  readonly family: readonly TaskState[];
  readonly viewer: Viewer;
}

/** One task, in the order a person asks: what is asked of me, what was asked for, what came of it. */
export const TaskPage = ({ state, kind, waits, artifacts, family, viewer }: TaskPageFacts) => (
  <Page title={state.task.intent.title} name={viewer.name}>
    <header>
      <h1>{state.task.intent.title}</h1>
      <a href="/inbox">Inbox</a>
    </header>
    <main>
      <p class="soft">{waits}</p>
      {kind === undefined ? null : (
        <section aria-label="What is asked of you">
          <Act kind={kind} state={state} csrf={viewer.csrf} />
        </section>
      )}
      <section>
        <h2>Request</h2>
        <pre>{state.task.intent.body}</pre>
        {state.task.acceptance ? <pre>Accepted when: {state.task.acceptance}</pre> : null}
      </section>
      {artifacts.length === 0 ? null : (
        <section>
          <h2>Result</h2>
          {artifacts.map(({ name, text }) => (
            <>
              <p class="soft">{name}</p>
              <pre>{text}</pre>
            </>
          ))}
        </section>
      )}
      {state.decisions.length === 0 ? null : (
        <section>
          <h2>Decisions</h2>
          {state.decisions.map((decision) => (
            <pre>
              {decision.text}
              {'\n'}→ {decision.value} ({decision.by})
            </pre>
          ))}
        </section>
      )}
      {family.length === 0 ? null : (
        <section>
          <h2>Related</h2>
          <ul>
            {family.map((member) => (
              <li>
                <a href={`/inbox/tasks/${member.taskId}`}>{member.task.intent.title}</a>{' '}
                <span class="soft">
                  {member.agentId ?? 'router'}, {member.phase}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </main>
  </Page>
);
