// What both bots share with every runner: one JSON packet on stdin, exactly one JSON object on stdout.
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const packetBytes = 64 * 1024;
const summaryChars = 7_000;

/** Reads the packet; a packet that is not one is a fault of the caller and ends the program. */
async function readPacket() {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += chunk.length;
    if (bytes > packetBytes) throw new Error(`The packet is over ${packetBytes} bytes.`);
    chunks.push(chunk);
  }
  const packet = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  if (packet?.version !== 1 || typeof packet.run_id !== 'string')
    throw new Error('The packet lacks version 1 or run_id.');
  return packet;
}

/** Runs `work(packet)`, which gives `{ summary }` or `{ question }`, and writes the result. */
export async function runBot(work) {
  try {
    const packet = await readPacket();
    const outcome = await work(packet);
    process.stdout.write(`${JSON.stringify(toResult(packet, outcome))}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

function toResult(packet, outcome) {
  const base = { run_id: packet.run_id };
  if (outcome.question !== undefined) {
    const canAsk = packet.allowed_status?.includes('waiting_user') ?? false;
    if (canAsk)
      return {
        ...base,
        status: 'waiting_user',
        summary: outcome.question,
        decision_prompt: outcome.question,
      };
    return { ...base, status: 'needs_review', summary: outcome.question };
  }
  const receipt = packet.action?.receipt_id;
  return {
    ...base,
    status: 'completed',
    summary: shortened(outcome.summary),
    ...(typeof receipt === 'string' && { receipt_id: receipt, action_status: 'performed' }),
  };
}

function shortened(text) {
  if (text.length <= summaryChars) return text;
  const cut = text.slice(0, summaryChars);
  return `${cut.slice(0, cut.lastIndexOf('\n'))}\n\n… shortened; ask about a part for the rest.`;
}

/** The task's own words: goal and the latest text. */
export function textOf(packet) {
  return [packet.goal, packet.context]
    .filter((text) => typeof text === 'string' && text.length > 0)
    .join('\n\n');
}

/** Local paths a person named: references (`file:`, `git:`) first, then paths in the goal's text. */
export function pathsOf(packet) {
  const references = (packet.sources ?? []).flatMap(({ reference }) => pathOfReference(reference));
  const text = textOf(packet);
  const quoted = [...text.matchAll(/[`"']((?:\/|~\/|\.{1,2}\/)[^`"'\n]+)[`"']/g)].map(
    ([, path]) => path,
  );
  const plain = [...text.matchAll(/(?<=^|[\s(])(\/|~\/|\.{1,2}\/)[^\s)`"'<>]+/gm)].map(([path]) =>
    path.replace(/[.,;:!?]+$/, ''),
  );
  return [...new Set([...references, ...quoted, ...plain].map(toAbsolute))];
}

function pathOfReference(reference) {
  if (typeof reference !== 'string') return [];
  if (reference.startsWith('file:///')) return [fileURLToPath(reference)];
  if (reference.startsWith('file:')) return [reference.slice('file:'.length)];
  const git = /^git:((?:\/|~\/|\.{1,2}\/)[^@#]*)/.exec(reference)?.[1];
  return git === undefined ? [] : [git];
}

function toAbsolute(path) {
  return resolve(path.startsWith('~/') ? `${homedir()}/${path.slice(2)}` : path);
}

/** A variable of comma-separated names, as a list. */
export function listOf(variable) {
  return (process.env[variable] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry.length > 0);
}
