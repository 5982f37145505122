import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { initHome } from '../cards/registry/init-home.ts';
import { startChildServer, type ChildServer } from './child-server.ts';

/** A real mesh in a process of its own, from the build, with everything that ships. */
export interface BenchMesh {
  readonly server: ChildServer;
  /** The front's address, without a slash at the end. */
  readonly url: string;
  /** An API token with all scopes. */
  readonly token: string;
  /** Where `agentId` takes A2A. */
  urlOf(agentId: string): string;
}

const command = join(import.meta.dirname, '../dist/cli/main.js');

/** The persona under load: its answer is a script's, so that only the mesh costs anything. */
export const echoId = 'bench-echo';
/** Another that never runs while its caller waits: its tasks wait on the board for its worker. */
export const queuedId = 'bench-queued';

const cardOf = (id: string, queue: object) => ({
  id,
  name: id,
  description: 'Answers at once, so that the mesh around it can be measured.',
  version: '1.0.0',
  runtime: 'rehearsal',
  skills: [{ id: 'echo', name: 'Echo', description: 'Says one sentence.', tags: ['bench'] }],
  trust: 'trusted',
  cost: 'free-local',
  effects: 'none',
  queue,
  rehearsal: { script: [{ answer: 'Echo.' }] },
});

/** The shipped catalog and two personas for load, as a home in `folder`. */
export async function makeBenchHome(folder: string): Promise<string> {
  const home = join(folder, 'home');
  await initHome({ dir: home, human: 'operator', environment: process.env });
  const cards = [cardOf(echoId, { concurrency: 100 }), cardOf(queuedId, { asyncOnly: true })];
  for (const card of cards) {
    writeFileSync(join(home, 'cards', `${card.id}.card.yaml`), stringify(card));
  }
  const author = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost'];
  execFileSync('git', ['add', 'cards'], { cwd: home });
  execFileSync('git', [...author, 'commit', '-qm', 'Add personas for load'], { cwd: home });
  return home;
}

/** `mesh up` on any free port. `nodeFlags` are Node's own, such as `--cpu-prof`. */
export async function startBenchMesh(
  home: string,
  nodeFlags: readonly string[] = [],
): Promise<BenchMesh> {
  const flags = ['--home', home, '--json', '--quiet'];
  const server = await startChildServer({
    args: [...nodeFlags, command, 'up', '--port', '0', ...flags],
  });
  const { url } = server.ready as { url: string };
  const token = readFileSync(join(home, 'state/operator.token'), 'utf8').trim();
  return { server, url, token, urlOf: (agentId) => `${url}/agents/${agentId}/` };
}
