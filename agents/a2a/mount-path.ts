import { getPathNoStrict } from 'hono/utils/url';

/** What an app that stands below a path is told beside the request: which path that is. */
export interface MountBindings {
  /** `/agents/<id>`, without a slash at the end; absent or empty: it stands at the root. */
  readonly mountPath?: string;
}

/**
 * The path as an app below `mountPath` sees it; both with and without a slash at the end. The request
 * itself stays as it came: a copy with another address costs more than everything that routes it.
 */
export function pathBelowMount(request: Request, options: { readonly env?: unknown } = {}): string {
  const path = getPathNoStrict(request);
  const { mountPath = '' } = (options.env ?? {}) as MountBindings;
  return path.startsWith(mountPath) ? path.slice(mountPath.length) || '/' : path;
}
