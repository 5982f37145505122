import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { catalogFolder } from '../../cards/registry/package-root.ts';
import { gitEnvironment } from '../support/card-home.ts';

const Result = z.strictObject({
  run_id: z.string(),
  status: z.enum(['completed', 'waiting_user', 'needs_review']),
  summary: z.string().min(1),
  receipt_id: z.string().optional(),
  action_status: z.enum(['not_started', 'performed', 'uncertain']).optional(),
  decision_prompt: z.string().optional(),
});

const packet = (change: object = {}) => ({
  version: 1,
  run_id: 'run-1',
  goal: 'Do it.',
  context: '',
  sources: [],
  action: null,
  allowed_status: ['completed', 'waiting_user', 'needs_review'],
  ...change,
});

/** Runs a shipped bot as the runner does: argv, a bare environment, one packet, one object back. */
async function run(bot: string, input: unknown, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await started(bot, JSON.stringify(input), env);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  return Result.parse(JSON.parse(stdout));
}

function started(bot: string, stdin: string, env: Record<string, string> = {}) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const file = join(catalogFolder(), 'bots', `${bot}.mjs`);
    const options = { env: { ...gitEnvironment, ...env }, timeout: 30_000 };
    const child = execFile(process.execPath, [file], options, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr });
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(stdin);
  });
}

let root: string;
let server: Server;
let origin: string;
const asked: string[] = [];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'card-bots-'));
  server = createServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
    if (request.url === '/ok') response.writeHead(200).end('fine');
    else if (request.url === '/no-head')
      response.writeHead(request.method === 'HEAD' ? 405 : 200).end();
    else if (request.url === '/moved') response.writeHead(302, { location: '/ok' }).end();
    else if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
    else if (request.url === '/inside')
      response.writeHead(302, { location: 'http://10.0.0.1/' }).end();
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close();
  rmSync(root, { recursive: true, force: true });
});

function repository(): string {
  const dir = mkdtempSync(join(root, 'repo-'));
  const git = (date: string, author: string, ...args: string[]) => {
    const who = {
      GIT_AUTHOR_NAME: author,
      GIT_AUTHOR_EMAIL: 'a@localhost',
      GIT_COMMITTER_NAME: author,
      GIT_COMMITTER_EMAIL: 'a@localhost',
    };
    const when = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    execFileSync('git', args, { cwd: dir, env: { ...gitEnvironment, ...who, ...when } });
  };
  const commit = (author: string, date: string, files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
    git(date, author, 'add', '-A');
    git(date, author, 'commit', '-q', '-m', 'work');
  };
  git('2020-01-01T00:00:00Z', 'Ada', 'init', '-q', '-b', 'main');
  commit('Ada', '2020-01-01T00:00:00Z', {
    'a.ts': 'let a = 1; // TODO one\n// FIXME two\n',
    'b.py': 'b = 2\n',
  });
  git('2020-01-01T00:00:00Z', 'Ada', 'branch', 'old-idea');
  commit('Bob | pipe', new Date().toISOString(), {
    'a.ts': 'let a = 3;\n// TODO left\n',
    'name with space.md': '# x\n',
  });
  return dir;
}

describe('repo-report', () => {
  it('reports authors, churn, languages, files, stale branches and open marks', async () => {
    const dir = repository();
    const { summary, status, run_id } = await run(
      'repo-report',
      packet({ goal: `Report on ${dir}.` }),
    );
    expect([status, run_id]).toEqual(['completed', 'run-1']);
    expect(summary).toContain('2 commits (whole history), 2 authors, +6 −2 lines');
    expect(summary).toContain('| Ada | 1 | 3 | 0 |');
    expect(summary).toContain('| Bob \\| pipe | 1 | 3 | 2 |');
    expect(summary).toContain('| a.ts | 6 | 2 |');
    expect(summary).toMatch(/\| TypeScript \| \d+\.\d % \|/);
    expect(summary).toMatch(/Stale branches .*: 1\n\n[^]*\| old-idea \| \d{4} \| Ada \|/);
    expect(summary).toContain('Open marks (TODO, FIXME, HACK, XXX): 1');
    expect(summary).toContain('| name with space.md | 4 B |');
  });

  it('takes the repository from a reference and a span of days from the text', async () => {
    const reference = `git:${repository()}@HEAD#a.ts`;
    const { summary } = await run(
      'repo-report',
      packet({ goal: 'The last 90 days', sources: [{ id: 's', reference }] }),
    );
    expect(summary).toContain('1 commit (last 90 days), 1 author, ');
  });

  it('asks which one where none is named, or says so where it may not ask', async () => {
    const asks = await run('repo-report', packet());
    expect(asks.status).toBe('waiting_user');
    expect(asks.decision_prompt).toMatch(/Which local git repository/);
    const mute = packet({ allowed_status: ['completed', 'needs_review'] });
    expect(await run('repo-report', mute)).toMatchObject({ status: 'needs_review' });
  });

  it('stays inside the roots that its operator allows', async () => {
    const dir = repository();
    const goal = `Report on ${dir}`;
    const env = { REPO_REPORT_ROOTS: '/srv/projects' };
    expect(await run('repo-report', packet({ goal }), env)).toMatchObject({
      status: 'waiting_user',
    });
    expect(await run('repo-report', packet({ goal }), { REPO_REPORT_ROOTS: root })).toMatchObject({
      status: 'completed',
    });
  });

  it('runs nothing that the repository names', async () => {
    const dir = repository();
    const trap = join(root, 'trapped');
    for (const setting of [
      'core.fsmonitor',
      'diff.external',
      'core.pager',
      'gpg.program',
      'diff.x.textconv',
    ])
      execFileSync('git', ['config', setting, `touch ${trap} #`], {
        cwd: dir,
        env: gitEnvironment,
      });
    execFileSync('git', ['config', 'log.showSignature', 'true'], { cwd: dir, env: gitEnvironment });
    mkdirSync(join(dir, '.git', 'info'), { recursive: true });
    writeFileSync(join(dir, '.git', 'info', 'attributes'), '* diff=x\n');
    await run('repo-report', packet({ goal: `Report on ${dir}` }));
    expect(() => execFileSync('test', ['-e', trap])).toThrow();
  });

  it('names its receipt where an action asks for one', async () => {
    const action = { id: 'a1', intent: {}, receipt_id: 'expected-1' };
    const goal = `Report on ${repository()}`;
    expect(await run('repo-report', packet({ goal, action }))).toMatchObject({
      receipt_id: 'expected-1',
      action_status: 'performed',
    });
  });

  it('ends with a reason and no output on what is no packet', async () => {
    for (const input of ['', '{', '{"version":2,"run_id":"x"}', 'x'.repeat(70_000)]) {
      const { code, stdout, stderr } = await started('repo-report', input);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).not.toBe('');
    }
  });
});

describe('link-checker', () => {
  it('finds files and headings that are not there, with their lines', async () => {
    const dir = mkdtempSync(join(root, 'docs-'));
    mkdirSync(join(dir, 'deep'));
    writeFileSync(
      join(dir, 'deep', 'b.md'),
      '# Getting *started*, again\n\n# Same\n# Same\n\n<a id="Old"></a>\n',
    );
    writeFileSync(
      join(dir, 'a.md'),
      [
        '# Top',
        '[ok](deep/b.md)',
        '[ok](deep/b.md#getting-started-again "title")',
        '[ok](#top) [ok](deep/b.md#same-1)',
        '[ok](deep/b.md#Old)',
        '[bad](deep/c.md)',
        '[bad](deep/b.md#same-2)',
        '[bad](#nowhere)',
        '`[code](gone.md)`',
        '```',
        '[code](gone.md)',
        '```',
        '[def]: gone.md',
        '![bad](pic%20one.png)',
        '[mail](mailto:a@b.c)',
      ].join('\n'),
    );
    const { summary } = await run('link-checker', packet({ goal: `Check ${dir}` }));
    expect(summary.split('\n')).toEqual([
      '5 broken. 2 documents, 11 links, web addresses asked: 0. Not checked: 1 (mail, absolute paths, or too many).',
      '',
      '- a.md:6 `deep/c.md`: file not found',
      '- a.md:7 `deep/b.md#same-2`: no heading #same-2',
      '- a.md:8 `#nowhere`: no heading #nowhere',
      '- a.md:13 `gone.md`: file not found',
      '- a.md:14 `pic%20one.png`: file not found',
    ]);
  });

  it('asks web addresses, by GET only where HEAD is not known, and follows a few redirects', async () => {
    asked.length = 0;
    const paths = ['ok', 'ok', 'no-head', 'moved', 'gone', 'loop', 'inside'];
    const goal = paths.map((path) => `[x](${origin}/${path})`).join('\n');
    const { summary } = await run('link-checker', packet({ goal }), {
      LINK_CHECKER_ALLOW_HOSTS: '127.0.0.1',
    });
    expect(summary.split('\n').slice(2)).toEqual([
      `- the text:5 \`${origin}/gone\`: HTTP 404`,
      `- the text:6 \`${origin}/loop\`: redirects more than 5 times`,
      `- the text:7 \`${origin}/inside\`: private address, not asked`,
    ]);
    expect(asked.filter((line) => line === 'HEAD /ok')).toHaveLength(2);
    expect(asked).toContain('GET /no-head');
  });

  it('never asks a private address that nobody allowed, in whatever spelling', async () => {
    asked.length = 0;
    const { port } = server.address() as AddressInfo;
    const hosts = [
      '127.0.0.1',
      'localhost',
      '127.1',
      '0x7f000001',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
    ];
    const goal = hosts.map((host) => `<http://${host}:${port}/ok>`).join('\n');
    const { summary } = await run('link-checker', packet({ goal }));
    expect(summary.match(/private address, not asked/g)).toHaveLength(hosts.length);
    expect(asked).toEqual([]);
  });

  it('asks for Markdown where there is none', async () => {
    expect(await run('link-checker', packet())).toMatchObject({ status: 'waiting_user' });
  });
});
