import type { Command } from 'commander';
import { basename, extname } from 'node:path';
import { InvalidValueError, MeshError } from '../../fabric/domain/errors.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { Outcome, type ResultArtifact } from '../../fabric/domain/task.ts';
import { TrustClass } from '../../fabric/domain/trust.ts';
import { fileArtifacts } from '../../fabric/embedded/file-artifacts.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { finishRun, keepText } from '../../fabric/queue/finish.ts';
import { withTaint } from '../../fabric/queue/taint.ts';
import { listAgents } from '../agent-list.ts';
import { endedBefore } from '../ended-hold.ts';
import { textFile } from '../given-text.ts';
import { heldTask, logWriterOf, type HoldOptions } from '../held-task.ts';
import { homePaths } from '../home.ts';
import type { MeshConnection } from '../mesh-connection.ts';
import type { Result, Run, Session } from '../session.ts';
import { verify, type VerifyOptions } from './verify.ts';
import { standsAt, withHold } from './task-held-options.ts';
import { oneLine } from '../text/printable.ts';

const group = 'Finishing:';

interface DoneOptions extends HoldOptions {
  readonly note?: string;
  readonly file?: string;
  readonly ref?: string;
}

interface AskOptions extends HoldOptions {
  readonly option?: readonly string[];
  readonly to: 'submitter' | 'human';
  readonly urgent?: true;
}

/** `done`, `ask` and `close`. */
export function defineFinish(command: Command, run: Run): void {
  withHold(command.command('done'))
    .helpGroup(group)
    .description('put the result on record; somebody else verifies it')
    .option('--note <text>', 'the result in a few words')
    .option('--file <path>', 'the result itself, as text')
    .option('--ref <ref>', 'the result where it lies: git:… or artifact:…')
    .addHelpText('after', doneExamples)
    .action((ref: string, options: DoneOptions) =>
      run(async (session) => done(session, await session.connect(), ref, options)),
    );
  withHold(command.command('ask'))
    .helpGroup(group)
    .description('hand it back with a question; the answer makes it ready again')
    .argument('<question>', 'what you must know to go on')
    .option('--option <text...>', `one of at most ${limits.questionOptions} answers`)
    .option('--to <whom>', 'submitter, or human (the one it is done for)', 'submitter')
    .option('--urgent', 'remind at once')
    .addHelpText('after', askExamples)
    .action((ref: string, question: string, options: AskOptions) =>
      run(async (session) => ask(session, await session.connect(), ref, question, options)),
    );
  command
    .command('close')
    .helpGroup(group)
    .description('verify a result and close its task, as `mesh verify` does')
    .argument('<task>')
    .option('--note <text>', 'what you checked')
    .option('--commit <sha>', 'the commit you looked at')
    .addHelpText('after', closeExamples)
    .action((ref: string, options: VerifyOptions) =>
      run(async (session) => verify(session, await session.connect(), ref, options)),
    );
}

const doneExamples = `
Examples:
  mesh task done 1a2b3c4d --fence 2 --note "3 risks found" --file audit.md
  mesh task done 1a2b3c4d --fence 2 --note "on a branch" --ref git:app@3f2a91c
`;
const askExamples = `
Examples:
  mesh task ask 1a2b3c4d "Which database?" --fence 2
  mesh task ask 1a2b3c4d "Delete the old table?" --fence 2 --to human --option yes no
`;
const closeExamples = `
Examples:
  mesh task close 1a2b3c4d
  mesh task close 1a2b3c4d --note "the tests pass at 3f2a91c" --commit 3f2a91c
`;

async function done(
  session: Session,
  mesh: MeshConnection,
  ref: string,
  options: DoneOptions,
): Promise<Result> {
  const outcome = await outcomeOf(mesh, options);
  const before = await endedBefore(mesh, ref, options, { kind: 'done', outcome });
  if (before) return standsAt(before);
  const held = await heldTask(session, mesh, ref, options);
  const agents = await listAgents(mesh, session.signal);
  // Of an agent that no Card names any more nothing is known, so nothing good is assumed.
  const trust = TrustClass.catch('untrusted').parse(
    agents.find(({ agentId }) => agentId === held.by.id)?.trust,
  );
  const by = { trust, mayCall: ['*'] };
  const end = await withTaint(mesh.board, held.state, by, { kind: 'done', outcome });
  return standsAt(await finishRun(logWriterOf(session, mesh), held, end));
}

/** @throws InvalidValueError for a result that is empty or longer than a log takes */
async function outcomeOf(mesh: MeshConnection, { note, file, ref }: DoneOptions): Promise<Outcome> {
  const text = file === undefined ? undefined : await textFile(file);
  const artifacts = [
    ...(file === undefined || text === undefined ? [] : [await artifactOf(mesh, file, text)]),
    ...(ref === undefined ? [] : [{ artifactId: 'ref', mediaType: 'text/plain', ref, bytes: 0 }]),
  ];
  const summary = note ?? (text === undefined ? ref : oneLine(text, limits.messageChars));
  const outcome = Outcome.safeParse({ summary: summary ?? '', artifacts });
  if (outcome.success) return outcome.data;
  if (summary === undefined || summary === '') {
    throw new InvalidValueError('A result is never empty. Give --note, --file or --ref.', 'note');
  }
  const [issue] = outcome.error.issues;
  throw new InvalidValueError(
    `The result can't be kept: ${issue?.path.join('.') ?? 'note'}: ${issue?.message ?? 'unknown'}. ` +
      `A note has at most ${limits.messageChars} characters; put more into --file.`,
    'note',
  );
}

/** Up to 8 KiB go inline; more into the home's artifacts, which only a mesh of this machine reads. */
async function artifactOf(
  mesh: MeshConnection,
  file: string,
  text: string,
): Promise<ResultArtifact> {
  const bytes = Buffer.byteLength(text);
  const isHere = mesh.inProcess || isLoopback(mesh.url);
  if (bytes > limits.inlineBytes && !isHere) {
    throw new MeshError(
      'PAYLOAD_INLINE',
      `${file} has ${bytes} bytes and at most ${limits.inlineBytes} go inline to a mesh elsewhere. ` +
        'Push it to a repository and name it: --ref git:repo@sha#path.',
      { path: 'file', limitBytes: limits.inlineBytes },
    );
  }
  const artifacts = fileArtifacts({ folder: homePaths(mesh.home).artifacts });
  const mediaType = extname(file) === '.md' ? 'text/markdown' : 'text/plain';
  return keepText({ artifacts }, basename(file), mediaType, text);
}

const isLoopback = (url: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);

async function ask(
  session: Session,
  mesh: MeshConnection,
  ref: string,
  text: string,
  options: AskOptions,
): Promise<Result> {
  const { to, option = [], urgent } = options;
  checkQuestion(text, options);
  const isGate = to === 'human' && option.length > 0;
  const end: RunEnd = {
    kind: 'asked',
    question: {
      text,
      options: [...option],
      to,
      kind: isGate ? 'gate' : 'question',
      ...(urgent ? { urgent } : {}),
    },
  };
  const before = await endedBefore(mesh, ref, options, end);
  if (before) return standsAt(before);
  const held = await heldTask(session, mesh, ref, options);
  return standsAt(await finishRun(logWriterOf(session, mesh), held, end));
}

function checkQuestion(text: string, { to, option = [] }: AskOptions): void {
  if (!['submitter', 'human'].includes(to)) {
    throw new InvalidValueError(`--to is submitter or human, not "${to}".`, 'to');
  }
  if (text.trim() === '' || text.length > limits.answerChars) {
    throw new InvalidValueError(
      `A question has 1 to ${limits.answerChars} characters.`,
      'question',
    );
  }
  if (option.length <= limits.questionOptions) return;
  throw new InvalidValueError(
    `A question has at most ${limits.questionOptions} options, and ${option.length} were given.`,
    'option',
  );
}
