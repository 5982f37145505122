import { extname } from 'node:path';
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import { BoardUnavailableError, reasonOf } from '../domain/errors.ts';
import type { FromThread, Opened, OpenRequest } from './group-messages.ts';
import { adviceOn } from './sqlite-failure.ts';

/**
 * The one thread on which SQLite runs, started at the first opening and shared by every file that this
 * process opens. It does not keep the process alive; an unanswered request does (`GroupLine`).
 */
let thread: Worker | undefined;

function startThread(): Worker {
  const worker = new Worker(entry());
  worker.unref();
  worker.once('exit', () => {
    if (thread === worker) thread = undefined;
  });
  // Whoever has a port to it hears of its end there; unheard, the event would end the process.
  worker.on('error', () => undefined);
  return worker;
}

/**
 * Built code runs as it is. Node 20 threads cannot load TypeScript sources (tests, `tsx`), and its
 * loader reaches a thread only through a first module of that thread.
 */
function entry(): URL {
  const extension = extname(import.meta.filename);
  const file = new URL(`./board-thread${extension}`, import.meta.url);
  if (extension !== '.ts') return file;
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const boot = `import { register } from ${loader}; register(); await import(${JSON.stringify(file.href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(boot)}`);
}

/**
 * A port on which the thread serves the file at `path`, and what it found there.
 * @throws BoardUnavailableError for a file in use, damaged, of a newer release, or out of reach
 */
export async function openPort(path: string): Promise<{ port: MessagePort; opened: Opened }> {
  const worker = (thread ??= startThread());
  const { port1: port, port2 } = new MessageChannel();
  const request: OpenRequest = { path, port: port2 };
  const first = firstMessage(worker, port);
  worker.postMessage(request, [port2]);
  const opened = await first;
  if (opened.kind === 'opened') return { port, opened };
  port.close();
  const advice = opened.kind === 'refused' ? adviceOn(opened.failure) : `got ${opened.kind}`;
  throw new BoardUnavailableError(`The board's database ${path} did not open: ${advice}.`);
}

function firstMessage(worker: Worker, port: MessagePort): Promise<FromThread> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      const reason = `The board's thread did not start: ${reasonOf(error)}`;
      reject(new BoardUnavailableError(reason, { cause: error }));
    };
    worker.once('error', fail);
    port.once('message', (message: FromThread) => {
      worker.off('error', fail);
      resolve(message);
    });
  });
}
