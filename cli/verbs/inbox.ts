import { Option, type Command } from 'commander';
import { z } from 'zod';
import { MeshError, meshErrorCodes } from '../../fabric/domain/errors.ts';
import { lastNotice } from '../../fabric/domain/notice.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { inboxOf, type InboxItem } from '../../fabric/queue/inbox.ts';
import { goesOutAlone } from '../../keeper/notices/plan.ts';
import { digestWords } from '../../keeper/notices/words.ts';
import type { MeshConnection } from '../mesh-connection.ts';
import { ownPrincipal } from '../own-principal.ts';
import type { Result, Run, Session } from '../session.ts';
import { inboxPage } from '../text/inbox-page.ts';
import { oneLine, printable } from '../text/printable.ts';

const examples = `
Examples:
  mesh inbox
  mesh inbox --digest                         what the daily digest would say now
  mesh inbox --web                            a link to the page, good once, for 10 minutes
  mesh inbox --json | jq '.questions[] | {taskId, question}'
`;

export function define(command: Command, run: Run): void {
  command
    .option('--web', 'print a link that opens the page in a browser')
    .addOption(new Option('--digest', 'print what the daily digest would say now').conflicts('web'))
    .addHelpText('after', examples)
    .action(({ web, digest }: { readonly web?: true; readonly digest?: true }) =>
      run(async (session) => {
        const mesh = await session.connect();
        if (digest) return digestOf(mesh);
        return web ? webLink(session, mesh) : listing(session, mesh);
      }),
    );
}

/** The words that go to a person at their hour, all of today's; nothing is sent. */
async function digestOf(mesh: MeshConnection): Promise<Result> {
  const me = ownPrincipal(mesh);
  const items = await inboxOf(mesh, me);
  const wasTold = (item: InboxItem) =>
    goesOutAlone(item, me.id) && lastNotice(item.state, me.id) !== undefined;
  const rest = items.filter((item) => !wasTold(item));
  const reader = { person: me.id, inboxUrl: `${mesh.url}/inbox` };
  const words = digestWords(rest, items.length - rest.length, reader);
  const nothing = 'No digest: nothing waits for you beside what you were told of.';
  if (words === undefined) return { data: { principal: me.id }, text: nothing };
  const text = `${oneLine(words.subject)}\n\n${printable(words.text)}`;
  return { data: { principal: me.id, ...words }, text };
}

async function listing(session: Session, mesh: MeshConnection): Promise<Result> {
  const me = ownPrincipal(mesh);
  const items = await inboxOf(mesh, me);
  const of = (kind: InboxItem['kind']): readonly TaskState[] =>
    items.filter((item) => item.kind === kind).map(({ state }) => state);
  const waiting = {
    ...{ questions: of('question'), results: of('verify') },
    ...{ admissions: of('admit'), givenUp: of('givenUp') },
  };
  return {
    data: { principal: me.id, ...waiting },
    text: inboxPage(waiting, session.clock.nowMs(), session.terminal.paint),
  };
}

const Link = z.object({ url: z.url(), expiresAtMs: z.number() });

/** The front makes it and forgets it with its process, so there must be one that goes on running. */
async function webLink(session: Session, mesh: MeshConnection): Promise<Result> {
  if (mesh.inProcess) {
    throw new MeshError('FABRIC_DOWN', 'The page needs a running mesh. Start one with: mesh up');
  }
  const answer = await mesh.fetch(`${mesh.url}/inbox/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${mesh.token}` },
    signal: session.signal,
  });
  if (!answer.ok) throw await refusedLink(answer);
  const link = Link.parse(await answer.json());
  session.note('The link opens the inbox once, within 10 minutes.');
  return { data: link, text: link.url };
}

const Problem = z.looseObject({ code: z.enum(meshErrorCodes), detail: z.string() });

async function refusedLink(answer: Response): Promise<MeshError> {
  const problem = Problem.safeParse(await answer.json().catch(() => undefined)).data;
  const code = problem?.code ?? 'FABRIC_DOWN';
  return new MeshError(code, problem?.detail ?? `The front gave no link (HTTP ${answer.status}).`);
}
