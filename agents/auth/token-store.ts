import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { MeshError, reasonOf } from '../../fabric/domain/errors.ts';
import { PrincipalId } from '../../fabric/domain/ids.ts';
import { parsedAs } from '../../fabric/domain/parsed-as.ts';
import { scopes } from '../../fabric/domain/principal.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { Random } from '../../fabric/ports/random.ts';
import { exclusively } from '../../fabric/embedded/exclusive-work.ts';
import { writeFileAtomically } from '../../cards/registry/atomic-file.ts';

const Label = z.string().max(100);

/** What is kept of an API token: never the token, only its SHA-256. */
export const TokenRecord = z.strictObject({
  tokenId: z.string().regex(/^[0-9a-f]{12}$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  principalId: PrincipalId,
  role: z.enum(['human', 'agent']),
  scopes: z.array(z.enum(scopes)).max(scopes.length),
  label: Label,
  createdAtMs: z.int().positive(),
  expiresAtMs: z.int().positive().optional(),
});
export type TokenRecord = z.infer<typeof TokenRecord>;

const TokenFile = z.strictObject({ version: z.literal(1), tokens: z.array(TokenRecord) });

export type NewToken = Pick<TokenRecord, 'role' | 'scopes' | 'label'> & {
  readonly principalId: string;
  /** Absent: until it is revoked. */
  readonly expiresAtMs?: number;
};

/**
 * API tokens of people and foreign tools, hashed, in one file that the command also writes. Changes of several
 * processes come one after the other; none is lost.
 */
export interface TokenStore {
  /** The whole token is in the answer and nowhere else ever again. */
  createToken(wish: NewToken): Promise<{ readonly token: string; readonly record: TokenRecord }>;
  listTokens(): Promise<readonly TokenRecord[]>;
  /** False for one that is not there. */
  revokeToken(tokenId: string): Promise<boolean>;
  /** The record of a token whose secret fits; expired or not. Reads the file again once it changed. */
  find(token: string): TokenRecord | undefined;
  /** The record of a token by its id, as it stands now; undefined once it is revoked. */
  record(tokenId: string): TokenRecord | undefined;
  /** Changes with the file: what was derived from an older one holds no more. */
  revision(): string;
}

export interface TokenStoreOptions {
  /** Usually `state/tokens.json`; made with mode 0600 at the first token. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
}

const Token = /^mesh_([0-9a-f]{12})_[0-9a-f]{64}$/;
const hashOf = (token: string) => createHash('sha256').update(token).digest();

/** @throws MeshError `VALIDATION_ERROR` when the file is not one of ours; then no token is believed */
export function tokenStore({ path, clock, random }: TokenStoreOptions): TokenStore {
  let seen = { revision: '', records: new Map<string, TokenRecord>() };
  const current = () => {
    const revision = revisionOf(path);
    if (revision !== seen.revision) seen = { revision, records: readRecords(path) };
    return seen;
  };
  /** The whole file is written anew: a process that does the same in between would undo it. */
  const change = (
    after: (records: ReadonlyMap<string, TokenRecord>) => TokenRecord[] | undefined,
  ) =>
    exclusively({ path: `${path}.lock`, clock }, async () => {
      const tokens = after(readRecords(path));
      if (tokens === undefined) return false;
      const text = JSON.stringify({ version: 1, tokens }, undefined, 2);
      await writeFileAtomically(path, `${text}\n`, 0o600);
      return true;
    });
  return {
    async createToken(wish) {
      const tokenId = random.hex(6);
      const token = `mesh_${tokenId}_${random.hex(32)}`;
      const record = TokenRecord.parse({
        tokenId,
        sha256: hashOf(token).toString('hex'),
        createdAtMs: Math.round(clock.nowMs()),
        ...wish,
        principalId: parsedAs(PrincipalId, wish.principalId, 'principal'),
        label: parsedAs(Label, wish.label, 'label'),
      });
      await change((records) => [...records.values(), record]);
      return { token, record };
    },
    listTokens: () => Promise.resolve([...current().records.values()]),
    revokeToken: (tokenId) =>
      change((records) => {
        if (!records.has(tokenId)) return undefined;
        return [...records.values()].filter((record) => record.tokenId !== tokenId);
      }),
    find(token) {
      const record = current().records.get(Token.exec(token)?.[1] ?? '');
      if (record === undefined) return undefined;
      const fits = timingSafeEqual(hashOf(token), Buffer.from(record.sha256, 'hex'));
      return fits ? record : undefined;
    },
    record: (tokenId) => current().records.get(tokenId),
    revision: () => current().revision,
  };
}

/** Inode, time and size: a file that was replaced has another one, also within a clock tick. */
function revisionOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.ino}.${stat.mtimeMs}.${stat.size}` : 'none';
}

function readRecords(path: string): Map<string, TokenRecord> {
  if (revisionOf(path) === 'none') return new Map();
  try {
    const { tokens } = TokenFile.parse(JSON.parse(readFileSync(path, 'utf8')));
    return new Map(tokens.map((record) => [record.tokenId, record]));
  } catch (cause) {
    throw new MeshError(
      'VALIDATION_ERROR',
      `${path} is not a list of tokens (${reasonOf(cause).slice(0, 200)}). Restore it, or delete it and make the tokens anew.`,
      { path },
      { cause },
    );
  }
}
