// Reports on a local git repository. Reads only; asks no network and runs nothing the repository names.
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { basename, extname, sep } from 'node:path';
import { promisify } from 'node:util';
import { counted } from './counted.mjs';
import { listOf, pathsOf, runBot, textOf } from './packet.mjs';

const execute = promisify(execFile);
const dayMs = 86_400_000;
const staleDays = 90;
const most = 20_000;

/** The repository's own configuration must not start programs or fetch. */
const harmless = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'log.showSignature=false'];

function gitIn(dir) {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, LANG: 'C', GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1' };
  const flags = ['--no-pager', ...harmless.flatMap((setting) => ['-c', setting])];
  return async (...args) => {
    const options = { cwd: dir, env, maxBuffer: 256 * 1024 * 1024, timeout: 90_000 };
    const { stdout } = await execute('git', [...flags, ...args], options);
    return stdout;
  };
}

async function findRepository(packet) {
  const roots = listOf('REPO_REPORT_ROOTS');
  for (const path of pathsOf(packet)) {
    const isInside = roots.some((root) => path === root || path.startsWith(root + sep));
    if (roots.length > 0 && !isInside) continue;
    const entry = await stat(path).catch(() => undefined);
    if (!entry?.isDirectory()) continue;
    const git = gitIn(path);
    const top = await git('rev-parse', '--git-dir').catch(() => undefined);
    if (top !== undefined) return { path, git };
  }
  return undefined;
}

function daysAsked(text) {
  const days = Number(/\b(\d{1,4})\s*-?\s*days?\b/i.exec(text)?.[1]);
  return Number.isInteger(days) && days > 0 ? days : undefined;
}

async function historyOf(git, days) {
  const since = days === undefined ? [] : [`--since=${days}.days.ago`];
  const shape = ['--numstat', '--no-renames', '--no-ext-diff', '--no-textconv', '-z'];
  const text = await git(
    'log',
    `-n${most}`,
    '--no-merges',
    ...since,
    ...shape,
    '--format=%x01%aN%x02%aI',
  );
  return tally(text.split('\u0001').slice(1).map(toCommit));
}

function toCommit(record) {
  const [head = '', ...rows] = record.split('\u0000').flatMap((part) => part.split('\n'));
  const [author = '', date = ''] = head.split('\u0002');
  const files = rows.flatMap((row) => {
    const match = /^(\d+|-)\t(\d+|-)\t(.+)$/.exec(row);
    if (match === null) return [];
    return [{ added: Number(match[1]) || 0, removed: Number(match[2]) || 0, file: match[3] }];
  });
  return { author, date: date.slice(0, 10), files };
}

/** Commits newest first, as sums by author and by file. */
function tally(commits) {
  const authors = new Map();
  const churn = new Map();
  const sum = { added: 0, removed: 0 };
  for (const { author, files } of commits) {
    const mine = authors.get(author) ?? { commits: 0, added: 0, removed: 0 };
    authors.set(author, mine);
    mine.commits += 1;
    for (const { added, removed, file } of files) {
      const known = churn.get(file) ?? { lines: 0, commits: 0 };
      churn.set(file, { lines: known.lines + added + removed, commits: known.commits + 1 });
      for (const total of [mine, sum]) {
        total.added += added;
        total.removed += removed;
      }
    }
  }
  const [first, last] = [commits.at(-1)?.date, commits[0]?.date];
  return { commits: commits.length, ...sum, first, last, authors, churn };
}

const languages = {
  '.ts': 'TypeScript',
  '.tsx': 'TypeScript',
  '.js': 'JavaScript',
  '.mjs': 'JavaScript',
  '.cjs': 'JavaScript',
  '.jsx': 'JavaScript',
  '.py': 'Python',
  '.go': 'Go',
  '.rs': 'Rust',
  '.java': 'Java',
  '.kt': 'Kotlin',
  '.c': 'C',
  '.h': 'C',
  '.cc': 'C++',
  '.cpp': 'C++',
  '.hpp': 'C++',
  '.cs': 'C#',
  '.rb': 'Ruby',
  '.php': 'PHP',
  '.swift': 'Swift',
  '.sh': 'Shell',
  '.bash': 'Shell',
  '.sql': 'SQL',
  '.html': 'HTML',
  '.css': 'CSS',
  '.scss': 'CSS',
  '.md': 'Markdown',
  '.yaml': 'YAML',
  '.yml': 'YAML',
  '.json': 'JSON',
  '.toml': 'TOML',
  '.lua': 'Lua',
  '.scala': 'Scala',
  '.dart': 'Dart',
};

async function filesOf(git) {
  const text = await git('ls-tree', '-r', '-l', '-z', 'HEAD');
  return text.split('\u0000').flatMap((line) => {
    const match = /^\d+ blob [0-9a-f]+ +(\d+)\t(.+)$/s.exec(line);
    return match === null ? [] : [{ size: Number(match[1]), file: match[2] }];
  });
}

function languagesOf(files) {
  const bytes = new Map();
  for (const { size, file } of files) {
    const name = languages[extname(file).toLowerCase()];
    if (name !== undefined) bytes.set(name, (bytes.get(name) ?? 0) + size);
  }
  const total = [...bytes.values()].reduce((sum, size) => sum + size, 0);
  return { bytes, total };
}

async function branchesOf(git) {
  const shape = '--format=%(refname:short)%00%(committerdate:unix)%00%(authorname)';
  const text = await git('for-each-ref', shape, 'refs/heads');
  return text
    .split('\n')
    .filter((line) => line.length > 0)
    .map((line) => {
      const [name, seconds, author] = line.split('\u0000');
      return { name, author, days: Math.floor((Date.now() - Number(seconds) * 1_000) / dayMs) };
    });
}

/** Marks left for later, a file at a time; exit code 1 of `git grep` means none. */
async function marksOf(git) {
  const pattern = '\\b(TODO|FIXME|HACK|XXX)\\b';
  const text = await git('grep', '-c', '-I', '-P', '--no-textconv', '-z', pattern, 'HEAD').catch(
    (error) => {
      if (error.code === 1) return '';
      throw error;
    },
  );
  const files = text.split('\n').flatMap((line) => {
    const [name, count] = line.split('\u0000');
    return count === undefined ? [] : [{ file: name.slice('HEAD:'.length), count: Number(count) }];
  });
  return files.sort((one, other) => other.count - one.count);
}

const top = (map, count, by) =>
  [...map.entries()].sort(([, one], [, other]) => by(other) - by(one)).slice(0, count);
const size = (bytes) =>
  bytes < 1_024
    ? `${bytes} B`
    : bytes < 1_048_576
      ? `${(bytes / 1_024).toFixed(1)} KiB`
      : `${(bytes / 1_048_576).toFixed(1)} MiB`;
const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
const table = (head, rows) =>
  [
    `| ${head.join(' | ')} |`,
    `|${' --- |'.repeat(head.length)}`,
    ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
  ].join('\n');

function report({ path, days, history, files, branches, marks }) {
  const marked = marks.reduce((sum, { count }) => sum + count, 0);
  const stale = branches.filter((branch) => branch.days > staleDays);
  return [
    `# ${basename(path)}`,
    overview({ days, history, files, branches }),
    ...historyTables(history),
    ...fileTables(files),
    `## Stale branches (no commit for over ${staleDays} days): ${stale.length}`,
    ...(stale.length > 0 ? [staleTable(stale)] : []),
    `## Open marks (TODO, FIXME, HACK, XXX): ${marked}`,
    ...(marked > 0
      ? [
          table(
            ['file', 'lines'],
            marks.slice(0, 10).map((one) => [one.file, one.count]),
          ),
        ]
      : []),
  ].join('\n\n');
}

function overview({ days, history, files, branches }) {
  const span = days === undefined ? 'whole history' : `last ${days} days`;
  const cut = history.commits >= most ? `, newest ${most}` : '';
  const dates = history.first === undefined ? '' : `, ${history.first} to ${history.last}`;
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  return (
    `${counted(history.commits, 'commit')} (${span}${cut}), ${counted(history.authors.size, 'author')}, ` +
    `+${history.added} −${history.removed} lines${dates}. ` +
    `${counted(files.length, 'file')}, ${size(bytes)}, ${counted(branches.length, 'branch')}.`
  );
}

function historyTables({ authors, churn }) {
  const byAuthor = top(authors, 10, (author) => author.commits);
  const byFile = top(churn, 10, (file) => file.lines);
  return [
    '## Commits by author',
    table(
      ['author', 'commits', 'added', 'removed'],
      byAuthor.map(([name, one]) => [name, one.commits, one.added, one.removed]),
    ),
    '## Churn: files changed most',
    table(
      ['file', 'lines', 'commits'],
      byFile.map(([name, one]) => [name, one.lines, one.commits]),
    ),
  ];
}

function fileTables(files) {
  const { bytes, total } = languagesOf(files);
  const share = (count) => `${((100 * count) / total).toFixed(1)} %`;
  const largest = [...files].sort((one, other) => other.size - one.size).slice(0, 8);
  return [
    '## Languages',
    table(
      ['language', 'share', 'size'],
      top(bytes, 8, (count) => count).map(([name, count]) => [name, share(count), size(count)]),
    ),
    '## Largest files',
    table(
      ['file', 'size'],
      largest.map((one) => [one.file, size(one.size)]),
    ),
  ];
}

function staleTable(stale) {
  const oldest = [...stale].sort((one, other) => other.days - one.days).slice(0, 10);
  return table(
    ['branch', 'days', 'author'],
    oldest.map((one) => [one.name, one.days, one.author]),
  );
}

await runBot(async (packet) => {
  const found = await findRepository(packet);
  if (found === undefined)
    return {
      question:
        'Which local git repository? Give the path of its folder, for example /srv/projects/shop.',
    };
  const { path, git } = found;
  const isEmpty = await git('rev-parse', '--verify', '-q', 'HEAD').then(
    () => false,
    () => true,
  );
  if (isEmpty) return { summary: `# ${basename(path)}\n\nThe repository has no commit yet.` };
  const days = daysAsked(textOf(packet));
  const [history, files, branches, marks] = await Promise.all([
    historyOf(git, days),
    filesOf(git),
    branchesOf(git),
    marksOf(git),
  ]);
  return { summary: report({ path, days, history, files, branches, marks }) };
});
