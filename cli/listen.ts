import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import type { Hono } from 'hono';
import { MeshError, reasonOf } from '../fabric/domain/errors.ts';

export interface Listening {
  /** `http://<host>:<port>`, with the port that was really taken. */
  readonly url: string;
  /** Takes no new connection and ends those that are open: whoever waits has got its answer. */
  close(): Promise<void>;
}

/**
 * Serves an app on an address; port 0 takes any free one.
 * @throws MeshError `FABRIC_DOWN` when the address is taken or not ours
 */
export function listen(app: Pick<Hono, 'fetch'>, host: string, port: number): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const server = serve(
      { fetch: app.fetch, hostname: host, port },
      ({ port: taken }: AddressInfo) => {
        const name = host.includes(':') ? `[${host}]` : host;
        resolve({ url: `http://${name}:${taken}`, close: () => closed(server) });
      },
    ) as Server;
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const words = `The address ${host}:${port} can't be listened on: ${reasonOf(cause)}.`;
      reject(new MeshError('FABRIC_DOWN', `${words} ${adviceFor(cause)}`, {}, { cause }));
    });
  });
}

/** Which of the two is wrong, the address or the port on it. */
function adviceFor({ code }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'EADDRINUSE':
      return 'Something else listens there: stop it, or choose another with --port.';
    case 'EACCES':
      return 'This user may not: choose one above 1023 with --port.';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'This machine has no such address: name one of its own with --host.';
    default:
      return 'Choose another with --host or --port.';
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
