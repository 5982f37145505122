/** What a request presents to be believed; nothing of it is checked yet. */
export type Credential =
  | { readonly kind: 'token'; readonly text: string }
  | { readonly kind: 'jwt'; readonly text: string };

/** Names under which clients put tokens into addresses, where logs and histories keep them. */
const tokenNames: ReadonlySet<string> = new Set([
  'access_token',
  'token',
  'api_key',
  'apikey',
  'x-api-key',
  'key',
  'auth',
  'authorization',
  'jwt',
]);

const Bearer = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const ApiToken = /^mesh_[0-9a-f]{12}_[0-9a-f]{64}$/;

/** Longest credential that is looked at, characters; ours have under 1,000. */
const longest = 4_096;

/**
 * The one credential of a request: `Authorization: Bearer` with a signed call, a run token or an API
 * token, or `X-API-Key` with an API token. Undefined without one, with two, with another scheme, or
 * with a token in the address.
 */
export function credentialOf(request: Request): Credential | undefined {
  const authorization = request.headers.get('authorization');
  const apiKey = request.headers.get('x-api-key');
  if (authorization !== null && apiKey !== null) return undefined;
  if (hasTokenInAddress(request.url)) return undefined;
  if (apiKey !== null) return ApiToken.test(apiKey) ? { kind: 'token', text: apiKey } : undefined;
  if (authorization === null || authorization.length > longest) return undefined;
  const text = Bearer.exec(authorization)?.[1];
  if (text === undefined) return undefined;
  return { kind: ApiToken.test(text) ? 'token' : 'jwt', text };
}

const anyCredential = /\bmesh_[0-9a-f]{12}_[0-9a-f]{64}\b|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g;

/** `text` without what looks like an API token, a run token or a signed call. */
export const withoutCredentials = (text: string): string =>
  text.replaceAll(anyCredential, '[redacted]');

/** Whether the request tries to authenticate at all, in whatever way. */
export function presentsCredential({ headers, url }: Request): boolean {
  const isInHeader = headers.has('authorization') || headers.has('x-api-key');
  return isInHeader || hasTokenInAddress(url);
}

function hasTokenInAddress(url: string): boolean {
  const start = url.indexOf('?');
  if (start < 0) return false;
  const names = new URLSearchParams(url.slice(start + 1)).keys();
  return [...names].some((name) => tokenNames.has(name.toLowerCase()));
}
