import { echoId, makeBenchHome, startBenchMesh } from './bench-mesh.ts';
import { figure, type BenchReport } from './figure.ts';
import { inFolder } from './life-cycle.ts';
import { headersFor, sendBody } from './load.ts';

const runs = 5;
const sends = 100;
const goal = { readyMs: 2_000, rssMiB: 150 };

/** `mesh up` on a home that exists, with all that ships: how long until it is ready, and what it takes. */
export async function benchStart(say: (text: string) => void): Promise<BenchReport> {
  return inFolder(async (folder) => {
    const home = await makeBenchHome(folder);
    const [readyMs, atReady, afterSends]: [number[], number[], number[]] = [[], [], []];
    let agents = 0;
    for (let run = 1; run <= runs; run++) {
      say(`start ${run} of ${runs}`);
      const mesh = await startBenchMesh(home);
      const { server, token } = mesh;
      agents = (server.ready as { agents: readonly unknown[] }).agents.length;
      readyMs.push(server.readyMs);
      atReady.push((await server.usage()).rssMiB);
      const target = { url: mesh.urlOf(echoId), token };
      for (let n = 0; n < sends; n++) {
        const request = { method: 'POST', headers: headersFor(target), body: sendBody() };
        await (await fetch(target.url, request)).text();
      }
      afterSends.push((await server.usage()).rssMiB);
      await server.stop();
    }
    return {
      bench: 'start',
      peers: {},
      figures: [
        figure(`spawn to ready, ${agents} agents`, 'ms', readyMs, { atMost: goal.readyMs }),
        figure('resident memory when ready', 'MiB', atReady, { atMost: goal.rssMiB }),
        figure(`resident memory after ${sends} sends`, 'MiB', afterSends, { atMost: goal.rssMiB }),
      ],
    };
  });
}
