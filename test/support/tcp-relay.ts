import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface TcpRelay {
  /** `http://127.0.0.1:<port>`; the same for its whole life. */
  readonly url: string;
  /** Refuses connections and drops those that are open, as a stopped server does. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  stop(): Promise<void>;
}

/** A port of its own before a server on loopback, so that it can be away without being restarted. */
export async function tcpRelay(targetUrl: string): Promise<TcpRelay> {
  const target = Number(new URL(targetUrl).port);
  const open = new Set<Socket>();
  const relay = (client: Socket): void => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  };
  let server = await listening(relay, 0);
  const { port } = server.address() as AddressInfo;
  const cut = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of open) socket.destroy();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    cut,
    async restore() {
      server = await listening(relay, port);
    },
    stop: cut,
  };
}

function listening(onClient: (client: Socket) => void, port: number): Promise<Server> {
  const server = createServer(onClient);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      resolve(server);
    });
  });
}
