// Asks whether a web address answers, without ever touching an address that is not public.
import { lookup } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.mjs';

const timeoutMs = 10_000;
const redirects = 5;

class RefusedAddressError extends Error {}

/** Undefined when the address answers, else the reason it does not count. `allowed`: private hosts that may be asked. */
export async function webFault(address, allowed) {
  let url = new URL(address);
  for (let hop = 0; hop <= redirects; hop += 1) {
    const answer = await ask(url, allowed);
    if (answer.fault !== undefined) return answer.fault;
    if (answer.location === undefined) return undefined;
    if (!URL.canParse(answer.location, url)) return 'redirects to no address';
    url = new URL(answer.location, url);
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      return `redirects to ${url.protocol}`;
  }
  return `redirects more than ${redirects} times`;
}

/** HEAD, and GET only where a server does not know HEAD. */
async function ask(url, allowed) {
  if (url.username !== '' || url.password !== '')
    return { fault: 'carries a user name or password' };
  try {
    const first = await send('HEAD', url, allowed);
    const final = [403, 404, 405, 501].includes(first.status)
      ? await send('GET', url, allowed)
      : first;
    if (final.status >= 400) return { fault: `HTTP ${final.status}` };
    return final.status >= 300 ? { location: final.location } : {};
  } catch (error) {
    return {
      fault:
        error instanceof RefusedAddressError
          ? error.message
          : `no answer (${error.code ?? error.message})`,
    };
  }
}

function send(method, url, allowed) {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isAllowed = allowed.includes(url.hostname) || allowed.includes(host);
  if (isIP(host) !== 0 && !isAllowed && !isPublicAddress(host))
    throw new RefusedAddressError('private address, not asked');
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const options = {
    method,
    lookup: isAllowed ? lookup : publicLookup,
    agent: false,
    headers: { 'user-agent': 'cardmesh-link-checker' },
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { ...options, signal: AbortSignal.timeout(timeoutMs) },
      (response) => {
        resolve({ status: response.statusCode ?? 0, location: response.headers.location });
        response.destroy();
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

/** Looks up once and hands on only addresses that were checked, so that a second answer can't differ. */
function publicLookup(host, options, done) {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error);
    const [first] = addresses;
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      return done(new RefusedAddressError('private address, not asked'));
    return options.all ? done(null, addresses) : done(null, first.address, first.family);
  });
}
