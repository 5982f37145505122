import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { streamSSE } from 'hono/streaming';
import { z } from 'zod';
import { maySee } from '../../fabric/domain/access.ts';
import { MeshError } from '../../fabric/domain/errors.ts';
import { DecisionId, TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { Principal } from '../../fabric/domain/principal.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { AvailabilityProbe } from '../../fabric/ports/availability.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { cancelTask } from '../../fabric/queue/cancel.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { inboxOf, waitsFor } from '../../fabric/queue/inbox.ts';
import { unknownTask } from '../../fabric/queue/refusals.ts';
import { steerTask } from '../../fabric/queue/steer.ts';
import { verifyTask } from '../../fabric/queue/verify.ts';
import { whyWaiting } from '../../fabric/queue/why.ts';
import { inboxCss, inboxJs } from './inbox-assets.ts';
import { InboxPage, ItemList, LoginPage, NoticePage, TaskPage } from './inbox-pages.tsx';
import type { InboxPeople } from './inbox-people.ts';
import { isSameToken, sessionMs, type InboxSession, type InboxSessions } from './inbox-sessions.ts';

export interface InboxRouteDeps {
  readonly queue: QueueDeps;
  readonly sessions: InboxSessions;
  readonly availability: AvailabilityProbe;
  /** A person as principal; undefined once their token or their Card is gone. */
  readonly personOf: InboxPeople['personOf'];
  /** The page is reached over https: the cookie then travels on https only. */
  readonly secure: boolean;
}

const cookieName = 'mesh_inbox';

const policy = {
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: ["'self'"],
    scriptSrc: ["'self'"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
  referrerPolicy: 'no-referrer' as const,
};

interface Entered {
  readonly person: Principal;
  readonly session: InboxSession;
}

/**
 * The inbox as pages: what waits for a person, with forms that answer exactly what was shown. A
 * session comes from a single-use link; every change carries the session's CSRF token.
 */
export function inboxRoutes(deps: InboxRouteDeps): Hono {
  const app = new Hono();
  app.use(secureHeaders(policy));
  app.use(async (c, next) => {
    await next();
    c.header('Cache-Control', 'no-store');
  });
  app.onError((error, c) => problemPage(c, error, deps));
  loginRoutes(app, deps);
  pageRoutes(app, deps);
  actionRoutes(app, deps);
  return app;
}

class NoSessionError extends Error {}

function enter(c: Context, { sessions, personOf }: InboxRouteDeps): Entered {
  const session = sessions.get(getCookie(c, cookieName));
  const person = session ? personOf(session) : undefined;
  if (session === undefined || person === undefined) throw new NoSessionError('no session');
  return { person, session };
}

function problemPage(
  c: Context,
  error: Error,
  { queue }: InboxRouteDeps,
): Response | Promise<Response> {
  if (error instanceof NoSessionError) {
    const text = 'Get a link with: mesh inbox --web';
    return c.html(<NoticePage title="Log in to see the inbox" text={text} />, 401);
  }
  if (error instanceof MeshError) {
    const status = error.code === 'NOT_FOUND' ? 404 : error.code === 'FABRIC_DOWN' ? 503 : 409;
    return c.html(<NoticePage title="That did not happen" text={error.message} />, status);
  }
  if (error instanceof z.ZodError) {
    const [issue] = error.issues;
    const text = `${issue?.path.join('.') ?? 'The form'}: ${issue?.message ?? 'not valid'}.`;
    return c.html(<NoticePage title="That did not happen" text={text} />, 400);
  }
  queue.log.error('inbox.fault', { reason: error.message });
  return c.html(
    <NoticePage title="A fault of ours" text="Nothing was changed. See the log." />,
    500,
  );
}

function loginRoutes(app: Hono, { queue, sessions, secure, personOf }: InboxRouteDeps): void {
  app.get('/inbox.css', (c) =>
    c.body(inboxCss, 200, { 'Content-Type': 'text/css; charset=utf-8' }),
  );
  app.get('/inbox.js', (c) =>
    c.body(inboxJs, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }),
  );
  app.get('/login', (c) => {
    const key = c.req.query('key') ?? '';
    const link = sessions.peek(key);
    const person = link && personOf(link);
    if (person === undefined) return usedUp(c);
    const name = queue.directory.agent(person.id)?.name ?? person.id;
    return c.html(<LoginPage name={name} linkKey={key} />);
  });
  app.post('/login', bodyLimit({ maxSize: 4_096 }), async (c) => {
    const form = await c.req.parseBody();
    const opened = sessions.open(typeof form['key'] === 'string' ? form['key'] : '');
    if (opened === undefined) return usedUp(c);
    setCookie(c, cookieName, opened.cookie, {
      httpOnly: true,
      sameSite: 'Strict',
      secure,
      path: '/inbox',
      maxAge: sessionMs / 1_000,
    });
    return c.redirect('/inbox', 303);
  });
}

const usedUp = (c: Context) =>
  c.html(
    <NoticePage
      title="This link is used up"
      text="A link opens one session, once, within 10 minutes. Get another: mesh inbox --web"
    />,
    403,
  );

function pageRoutes(app: Hono, deps: InboxRouteDeps): void {
  const { queue } = deps;
  const viewerOf = ({ person, session }: Entered) => ({
    name: queue.directory.agent(person.id)?.name ?? person.id,
    csrf: session.csrf,
    nowMs: queue.clock.nowMs(),
  });
  app.get('/', async (c) => {
    const entered = enter(c, deps);
    const items = await inboxOf(queue, entered.person);
    return c.html(<InboxPage items={items} viewer={viewerOf(entered)} />);
  });
  app.get('/items', async (c) => {
    const entered = enter(c, deps);
    const items = await inboxOf(queue, entered.person);
    return c.html(<ItemList items={items} viewer={viewerOf(entered)} />);
  });
  app.get('/tasks/:taskId', async (c) => {
    const entered = enter(c, deps);
    const state = await visibleTask(deps, entered.person, c.req.param('taskId'));
    const facts = await taskFacts(deps, entered.person, state);
    return c.html(<TaskPage {...facts} viewer={viewerOf(entered)} />);
  });
  app.get('/changes', (c) => {
    const { person, session } = enter(c, deps);
    return streamSSE(c, async (out) => {
      const gone = new AbortController();
      const unwatch = queue.board.watch((_uid, state) => {
        if (maySee(state, person)) void out.writeSSE({ event: 'changed', data: '' });
      });
      out.onAbort(() => {
        gone.abort();
      });
      while (!gone.signal.aborted && deps.personOf(session) !== undefined) {
        await out.writeSSE({ event: 'alive', data: '' });
        await queue.clock.sleep(limits.sseKeepAliveMs, gone.signal);
      }
      unwatch();
    });
  });
}

async function visibleTask(
  { queue }: InboxRouteDeps,
  person: Principal,
  text: string,
): Promise<TaskState> {
  const uid = TaskId.safeParse(text);
  const log = uid.success ? await queue.board.read(uid.data) : undefined;
  if (log === undefined || !maySee(log.state, person)) throw unknownTask(text);
  // Nobody outside hears of what a crash could still take back.
  await queue.board.flush();
  return log.state;
}

async function taskFacts(
  { queue, availability }: InboxRouteDeps,
  person: Principal,
  state: TaskState,
) {
  const { agentId } = state;
  const waits = whyWaiting(state, {
    nowMs: queue.clock.nowMs(),
    ...(agentId ? { availability: availability.at(agentId) } : {}),
  });
  const artifacts = await Promise.all(
    (state.outcome?.artifacts ?? []).map(async ({ name, artifactId, text, ref }) => ({
      name: name ?? artifactId,
      text: text ?? (await storedText(queue, ref)),
    })),
  );
  const children = await queue.board.find({ parent: state.taskId, limit: 50 });
  const family = children.states.filter((child) => maySee(child, person));
  return { state, kind: waitsFor(state, person), waits, artifacts, family };
}

/** The text behind an `artifact:` ref; other refs are shown as they are. */
async function storedText({ artifacts }: QueueDeps, ref: string | undefined): Promise<string> {
  if (!ref?.startsWith('artifact:')) return ref ?? '';
  const bytes = await artifacts.get(ref.slice('artifact:'.length));
  return bytes ? Buffer.from(bytes).toString('utf8') : `${ref} is not there any more`;
}

const text = z.string().trim().max(limits.answerChars);
const Answer = z.object({ decisionId: DecisionId, value: text.min(1), note: text.optional() });
const Verdict = z.object({ verdict: z.enum(['verified', 'refused']), note: text.optional() });
const Wish = z.object({ do: z.enum(['admit', 'cancel', 'archive']) });

function actionRoutes(app: Hono, deps: InboxRouteDeps): void {
  const { queue, sessions } = deps;
  const limit = bodyLimit({ maxSize: 64 * 1024 });
  /** Session, CSRF token and task, before anything is looked at. */
  const act = async (c: Context) => {
    const { person, session } = enter(c, deps);
    const form = await c.req.parseBody();
    if (!isSameToken(session.csrf, form['csrf'])) {
      throw new MeshError(
        'TRUST_DENIED',
        'The form is from another session. Open the inbox again.',
      );
    }
    const { taskId } = await visibleTask(deps, person, c.req.param('taskId') ?? '');
    return { person, form, taskId };
  };
  app.post('/logout', limit, async (c) => {
    const { session } = enter(c, deps);
    const form = await c.req.parseBody();
    if (isSameToken(session.csrf, form['csrf'])) sessions.close(getCookie(c, cookieName) ?? '');
    deleteCookie(c, cookieName, { path: '/inbox' });
    return c.redirect('/inbox', 303);
  });
  app.post('/tasks/:taskId/answer', limit, async (c) => {
    const { person, form, taskId } = await act(c);
    const { decisionId, value, note } = Answer.parse(form);
    const said = { decisionId, value, ...(note ? { note } : {}) };
    await answerQuestion(queue, { principal: person, uid: taskId, ...said });
    return c.redirect('/inbox', 303);
  });
  app.post('/tasks/:taskId/verify', limit, async (c) => {
    const { person, form, taskId } = await act(c);
    const { verdict, note } = Verdict.parse(form);
    await verifyTask(queue, { principal: person, uid: taskId, verdict, ...(note ? { note } : {}) });
    return c.redirect('/inbox', 303);
  });
  app.post('/tasks/:taskId/steer', limit, async (c) => {
    const { person, form, taskId } = await act(c);
    const wish = Wish.parse(form);
    if (wish.do === 'cancel') await cancelTask(queue, { principal: person, uid: taskId });
    else await steerTask(queue, person, taskId, { do: wish.do });
    return c.redirect('/inbox', 303);
  });
}
