import { InvalidArgumentError, Option, type Command } from 'commander';
import { tokenStore, type TokenRecord, type TokenStore } from '../../agents/auth/token-store.ts';
import { MeshError } from '../../fabric/domain/errors.ts';
import { scopes, type Scope } from '../../fabric/domain/principal.ts';
import { listOption } from '../choice-option.ts';
import { loadConfig, loadEnvironment } from '../config.ts';
import { cardIds } from '../home-view.ts';
import { requireHome } from '../require-home.ts';
import type { Result, Run, Session } from '../session.ts';
import { widthOf } from '../terminal.ts';
import { table } from '../text/columns.ts';
import { didYouMean } from '../text/did-you-mean.ts';
import { parseSpan } from '../text/points-in-time.ts';
import { oneLine } from '../text/printable.ts';
import { instant, relative } from '../text/relative-time.ts';

const examples = `
Examples:
  mesh token create --principal alvis --label laptop
  mesh token list
  mesh token revoke 3f2a91c0d4e5

Tokens live in the home, hashed: these verbs work on the machine of the mesh, also while it runs.
`;

const createExamples = `
Examples:
  export MESH_TOKEN=$(mesh token create --principal alvis)
  mesh token create --principal ci --role agent --scope tasks:submit tasks:read --expires 7d
`;
const listExamples = `
Examples:
  mesh token list
  mesh token list --json | jq -r '.[] | select(.principalId == "ci") | .tokenId'
`;
const revokeExamples = `
Examples:
  mesh token revoke 3f2a91c0d4e5
  mesh token revoke 3f2a91c0d4e5 --json
`;

/** What a person needs for a day's work; not others' tasks, not the queue, not the administration. */
const dailyScopes: readonly Scope[] = [
  'tasks:submit',
  'tasks:read',
  'tasks:answer',
  'tasks:verify',
  'tasks:cancel',
  'cards:read',
];
const monthMs = 30 * 86_400_000;

interface CreateOptions {
  readonly principal?: string;
  readonly role: 'human' | 'agent';
  readonly scope: readonly Scope[];
  readonly label?: string;
  readonly expires: number | 'never';
}

export function define(command: Command, run: Run): void {
  command.usage('[options] <verb> …').addHelpText('after', examples);
  command
    .command('create')
    .description('make a token; it is shown once and never again')
    .option('--principal <id>', "whose token it is (default: the home's default human)")
    .addOption(
      new Option('--role <role>', 'a person or a program')
        .choices(['human', 'agent'])
        .default('human'),
    )
    .addOption(
      listOption('--scope <scope...>', 'what it may do', scopes).default(
        [...dailyScopes],
        'all but tasks:read-all, tasks:work and admin',
      ),
    )
    .option('--label <text>', 'where it is used')
    .addOption(
      new Option('--expires <span>', '12h, 90d, or never')
        .argParser(parseExpiry)
        .default(monthMs, '30d'),
    )
    .addHelpText('after', createExamples)
    .action((options: CreateOptions) => run((session) => create(session, options)));
  command
    .command('list')
    .description('list tokens: whose, what they may do, until when')
    .addHelpText('after', listExamples)
    .action(() => run(list));
  command
    .command('revoke')
    .description('end a token at once')
    .argument('<token-id>', 'from `mesh token list`')
    .addHelpText('after', revokeExamples)
    .action((tokenId: string) => run((session) => revoke(session, tokenId)));
}

function parseExpiry(text: string): number | 'never' {
  if (text === 'never') return text;
  try {
    return parseSpan(text);
  } catch {
    throw new InvalidArgumentError('Write 12h, 30d, or never.');
  }
}

const storeOf = ({ globals, clock, random }: Session): TokenStore =>
  tokenStore({ path: requireHome(globals).tokens, clock, random });

async function create(session: Session, options: CreateOptions): Promise<Result> {
  const { role, scope, label = '', expires } = options;
  const principalId = options.principal ?? (await defaultHuman(session));
  const nowMs = session.clock.nowMs();
  const { token, record } = await storeOf(session).createToken({
    principalId,
    role,
    scopes: [...scope],
    label,
    ...(expires === 'never' ? {} : { expiresAtMs: nowMs + expires }),
  });
  await noteUnknown(session, principalId);
  session.note(`Token ${record.tokenId} of ${principalId}; it is shown only now.`);
  return { data: { ...withoutHash(record), token }, text: token };
}

/** A person or program without a Card may have a token, and a mistyped name too. */
async function noteUnknown(session: Session, principalId: string): Promise<void> {
  const ids = await cardIds(session);
  if (ids.length === 0 || ids.includes(principalId)) return;
  session.note(
    `No Card names ${principalId}: it is a name of its own.${didYouMean(principalId, ids)}`,
  );
}

async function defaultHuman({ globals }: Session): Promise<string> {
  const { home } = requireHome(globals);
  return (await loadConfig(home, loadEnvironment())).defaultHuman;
}

/** The hash says nothing to people and something to an attacker. */
function withoutHash({ sha256: _hash, ...rest }: TokenRecord): Omit<TokenRecord, 'sha256'> {
  return rest;
}

async function list(session: Session): Promise<Result> {
  const records = await storeOf(session).listTokens();
  const nowMs = session.clock.nowMs();
  const rows = records.map((record) => [
    record.tokenId,
    record.principalId,
    record.role,
    expiryWords(record, nowMs),
    relative(record.createdAtMs, nowMs),
    oneLine(record.label, 40),
    record.scopes.join(' '),
  ]);
  const heading = ['token', 'of', 'role', 'until', 'made', 'label', 'may'];
  return {
    data: records.map(withoutHash),
    text: table(heading, rows, 'No tokens.', widthOf(session.terminal)),
  };
}

function expiryWords({ expiresAtMs }: TokenRecord, nowMs: number): string {
  if (expiresAtMs === undefined) return 'never';
  return expiresAtMs <= nowMs ? 'expired' : instant(expiresAtMs, nowMs);
}

async function revoke(session: Session, tokenId: string): Promise<Result> {
  if (await storeOf(session).revokeToken(tokenId)) {
    return { data: { tokenId, revoked: true }, text: `Token ${tokenId} is revoked.` };
  }
  throw new MeshError('NOT_FOUND', `There is no token ${tokenId}. See \`mesh token list\`.`, {
    path: 'token-id',
  });
}
