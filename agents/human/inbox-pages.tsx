import type { Child } from 'hono/jsx';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { InboxItem } from '../../fabric/queue/inbox.ts';
import { Act } from './inbox-forms.tsx';

interface Viewer {
  readonly name: string;
  readonly csrf: string;
  readonly nowMs: number;
}

interface PageProps {
  readonly title: string;
  /** What the keys do here; absent: a page without a session. */
  readonly keys?: Child;
  readonly children: Child;
}

const Page = ({ title, keys, children }: PageProps) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{title}</title>
      <link rel="stylesheet" href="/inbox/inbox.css" />
      {keys === undefined ? null : <script src="/inbox/inbox.js" defer></script>}
    </head>
    <body>
      {children}
      {keys === undefined ? null : <footer class="soft">{keys}</footer>}
    </body>
  </html>
);

const ListKeys = () => (
  <>
    <kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>Enter</kbd> open · <kbd>Tab</kbd> to its answers
  </>
);

const TaskKeys = () => (
  <>
    <kbd>Tab</kbd> to the answers · <kbd>u</kbd> back to the inbox
  </>
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
  <Page title={items.length > 0 ? `(${items.length}) Inbox` : 'Inbox'} keys={<ListKeys />}>
    <header>
      <h1>Waiting for {viewer.name}</h1>
      <span class="count" id="count" role="status">
        {openWords(items.length)}
      </span>
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

const openWords = (count: number): string => (count === 0 ? '' : `${count} open`);

/** The part that live updates replace. */
export const ItemList = ({ items, viewer }: { items: readonly InboxItem[]; viewer: Viewer }) => (
  <ol class="items" id="items" data-count={items.length}>
    {items.length === 0 ? <li class="empty">Nothing waits for you.</li> : null}
    {items.map((item) => (
      <Item item={item} viewer={viewer} />
    ))}
  </ol>
);

const kindWords: Readonly<Record<InboxItem['kind'], string>> = {
  question: 'Question',
  verify: 'Result to verify',
  admit: 'Task to let in',
  givenUp: 'Given up',
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
  <Page title={state.task.intent.title} keys={<TaskKeys />}>
    <header>
      <h1>{state.task.intent.title}</h1>
      <a href="/inbox">Inbox</a>
    </header>
    <main>
      {kind === undefined ? (
        <p class="soft">{waits}</p>
      ) : (
        <section class="asked" aria-label="What is asked of you">
          <Act kind={kind} state={state} csrf={viewer.csrf} resultBelow={artifacts.length > 0} />
        </section>
      )}
      <section>
        <h2>Request</h2>
        <pre>{state.task.intent.body}</pre>
        {state.task.correction ? (
          <pre>The first result was refused: {state.task.correction}</pre>
        ) : null}
        {state.task.acceptance ? <pre>Accepted when: {state.task.acceptance}</pre> : null}
      </section>
      {artifacts.length === 0 ? null : (
        <section>
          <h2>Result</h2>
          {artifacts.map(({ name, text }) => (
            <>
              {artifacts.length > 1 ? <p class="soft">{name}</p> : null}
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
      <Related family={family} />
    </main>
  </Page>
);

const Related = ({ family }: Pick<TaskPageFacts, 'family'>) =>
  family.length === 0 ? null : (
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
  );
