import { InvalidValueError } from '../fabric/domain/errors.ts';
import { KanboardSettings } from './board-settings.ts';
import type { MeshConfig } from './config.ts';

/** Where the tasks of a mesh lie. */
export type BoardChoice =
  | { readonly kind: 'embedded' }
  /** Another mesh's board, over its front. */
  | { readonly kind: 'mesh'; readonly url: string }
  | { readonly kind: 'kanboard'; readonly settings: KanboardSettings };

const named = /^(mesh|kanboard):(https?:\/\/\S+)$/u;

/** Whether `text` may follow --board. */
export const isBoardName = (text: string): boolean =>
  text === 'embedded' || text === 'kanboard' || named.test(text);

/**
 * The board that --board names, else the one of mesh.yaml, else the home's own. A Kanboard that --board names by its
 * address has the rest of mesh.yaml's settings.
 */
export function boardChoiceOf(
  board: string | undefined,
  { board: configured }: Pick<MeshConfig, 'board'>,
): BoardChoice {
  const settings = configured?.kanboard;
  if (board === undefined) return settings ? { kind: 'kanboard', settings } : { kind: 'embedded' };
  if (board === 'embedded') return { kind: 'embedded' };
  if (board === 'kanboard') {
    return { kind: 'kanboard', settings: settings ?? KanboardSettings.parse({}) };
  }
  const [, kind, address = ''] = named.exec(board) ?? [];
  const url = address.replace(/\/+$/u, '');
  if (kind === 'mesh') return { kind, url };
  const parsed = KanboardSettings.safeParse({ url });
  if (kind === undefined || !parsed.success) {
    const why = parsed.error?.issues[0]?.message ?? 'it names no board';
    throw new InvalidValueError(`--board ${board}: ${why}.`, 'board');
  }
  // Another address is another Kanboard: what people open there is not what mesh.yaml says.
  const isSame = settings?.url !== undefined && addressOf(settings.url) === addressOf(url);
  const rest = isSame ? settings : { ...settings, webUrl: undefined };
  return { kind: 'kanboard', settings: { ...parsed.data, ...rest, url } };
}

/** A Kanboard's address without what people add to it: a slash at its end, the name of the API. */
export const addressOf = (url: string): string => url.replace(/(\/(jsonrpc|index)\.php)?\/*$/u, '');
