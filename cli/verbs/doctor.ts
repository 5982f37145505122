import type { Command } from 'commander';
import { reasonOf } from '../../fabric/domain/errors.ts';
import { loadEnvironment, type Environment, type MeshConfig } from '../config.ts';
import { boardFindings } from '../doctor/board-checks.ts';
import { cardsFinding } from '../doctor/cards-check.ts';
import { fail, type Finding } from '../doctor/finding.ts';
import {
  lockFinding,
  modeFinding,
  secretFinding,
  settingsFinding,
  type RunningFront,
} from '../doctor/home-checks.ts';
import {
  clockFinding,
  diskFinding,
  fsyncFinding,
  gitFinding,
  nodeFinding,
  scratchFolder,
} from '../doctor/machine-checks.ts';
import { frontFindings, gatewayFinding } from '../doctor/network-checks.ts';
import { noticesFindings } from '../doctor/notices-checks.ts';
import { exitCodes } from '../exit-codes.ts';
import { homeView } from '../home-view.ts';
import type { HomePaths } from '../home.ts';
import { namedHome } from '../require-home.ts';
import type { Run, Session } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { columns } from '../text/columns.ts';

const examples = `
Examples:
  mesh doctor
  mesh doctor --json | jq '.[] | select(.verdict != "ok")'

It changes nothing but a probe on a Kanboard. Exit code 1 when something fails; warnings alone are 0.
`;

export function define(command: Command, run: Run): void {
  command.addHelpText('after', examples).action(() =>
    run(async (session) => {
      const findings = await examine(session);
      const sick = findings.some(({ verdict }) => verdict === 'fail');
      return {
        data: findings,
        text: findingLines(findings, session.terminal),
        exitCode: sick ? exitCodes.fault : exitCodes.ok,
      };
    }),
  );
}

async function examine(session: Session): Promise<Finding[]> {
  const { clock, globals } = session;
  const environment = loadEnvironment();
  const paths = namedHome(globals);
  session.progress('looking at the machine');
  const machine = [
    nodeFinding(process.versions.node),
    await gitFinding(environment.all),
    clockFinding(clock),
  ];
  session.progress('looking at the home');
  const { finding, config } = await settingsFinding(paths, environment);
  const lock = config ? await lockFinding(paths) : undefined;
  const home = config ? await homeFindings(session, paths, environment) : [];
  const disk = await diskFindings(session, config ? paths.home : undefined);
  session.progress('looking at the network');
  const named = globals.url ?? environment.url;
  const front = named === undefined ? lock?.front : { url: named, gatewayUrl: undefined };
  const network = config ? await networkFindings(session, config, environment, front) : [];
  const frontUrl = lock?.front?.url;
  const board = config?.board
    ? await boardFindings({ session, paths, config, environment, frontUrl })
    : [];
  const told = config ? await noticesFindings(config, environment, await homeView(session)) : [];
  const local = [...machine, ...disk, finding, ...home, ...(lock ? [lock.finding] : [])];
  return [...local, ...network, ...board, ...told];
}

/** A check that can't be made is a finding, no fault: what hinders it is what people look for here. */
async function checked(about: string, check: () => Promise<Finding>): Promise<Finding> {
  return check().catch((error: unknown) =>
    fail(about, reasonOf(error), 'Check that the home may be read and written by you.'),
  );
}

async function diskFindings({ clock }: Session, home: string | undefined): Promise<Finding[]> {
  const folder = scratchFolder(home);
  return [
    await checked('disk', () => diskFinding(folder)),
    await checked('fsync', () => fsyncFinding(folder, clock)),
  ];
}

async function homeFindings(
  session: Session,
  paths: HomePaths,
  environment: Environment,
): Promise<Finding[]> {
  return [
    await checked('state', () => modeFinding(paths)),
    await checked('secret', () => secretFinding(paths, environment)),
    await checked('cards', async () => cardsFinding(await homeView(session), paths.state)),
  ];
}

async function networkFindings(
  { clock }: Session,
  config: MeshConfig,
  environment: Environment,
  front: RunningFront | undefined,
): Promise<Finding[]> {
  const { host, port } = config.front;
  const url = front?.url ?? `http://${host}:${port}`;
  return [
    ...(await frontFindings(url.replace(/\/+$/u, ''), clock)),
    await gatewayFinding({
      url: front?.gatewayUrl ?? config.gatewayUrl,
      key: environment.gatewayKey,
      isAnothers: front?.gatewayUrl !== undefined,
    }),
  ];
}

const styles = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

function findingLines(findings: readonly Finding[], { paint }: Terminal): string {
  const rows = findings.flatMap(({ about, verdict, says, fix }) => [
    [paint(styles[verdict], verdict), about, says],
    ...(fix === undefined ? [] : [['', '', fix]]),
  ]);
  return columns(rows);
}
