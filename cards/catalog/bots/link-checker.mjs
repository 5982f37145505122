// Checks the links of Markdown: files by looking, anchors by reading, web addresses by asking.
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { anchorsOf, linksOf } from './markdown-links.mjs';
import { listOf, pathsOf, runBot, textOf } from './packet.mjs';
import { webFault } from './web-link.mjs';

const most = { files: 500, links: 5_000, web: 300, bytes: 2 * 1024 * 1024, atOnce: 8 };
const isMarkdown = (path) => ['.md', '.markdown', '.mdx'].includes(extname(path).toLowerCase());

async function markdownUnder(path) {
  const entry = await stat(path).catch(() => undefined);
  if (entry?.isFile()) return isMarkdown(path) && entry.size <= most.bytes ? [path] : [];
  if (!entry?.isDirectory()) return [];
  const found = [];
  const folders = [path];
  while (folders.length > 0 && found.length < most.files) {
    const folder = folders.pop();
    for (const inner of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const full = join(folder, inner.name);
      if (inner.isDirectory() && !inner.name.startsWith('.') && inner.name !== 'node_modules')
        folders.push(full);
      if (inner.isFile() && isMarkdown(inner.name)) found.push(full);
    }
  }
  return found.sort().slice(0, most.files);
}

async function documentsOf(packet) {
  const named = pathsOf(packet);
  const files = (await Promise.all(named.map(markdownUnder))).flat();
  if (files.length > 0) {
    const base =
      named.length === 1
        ? (await stat(named[0])).isDirectory()
          ? named[0]
          : dirname(named[0])
        : undefined;
    return Promise.all(
      [...new Set(files)].map(async (file) => ({
        name: base === undefined ? file : relative(base, file),
        file,
        text: await readFile(file, 'utf8'),
      })),
    );
  }
  const text = textOf(packet);
  return linksOf(text).length > 0 ? [{ name: 'the text', text }] : [];
}

/** Gives `faultOf(document, target)`: undefined for a sound link, else why it is broken. */
function checker(documents) {
  const anchors = new Map();
  const allowed = listOf('LINK_CHECKER_ALLOW_HOSTS');
  const web = new Map();
  const anchorsIn = (file, text) => {
    if (!anchors.has(file))
      anchors.set(
        file,
        text === undefined ? readFile(file, 'utf8').then(anchorsOf) : anchorsOf(text),
      );
    return anchors.get(file);
  };
  const onWeb = (target) => {
    const address = target.split('#')[0];
    if (!URL.canParse(address)) return 'not an address';
    if (!web.has(address)) {
      if (web.size >= most.web) return undefined;
      web.set(address, webFault(address, allowed));
    }
    return web.get(address);
  };
  const onDisk = async (document, target) => {
    const [path, anchor] = splitAnchor(target);
    if (document.file === undefined && path !== '')
      return 'a relative link, and the text has no folder';
    const file = path === '' ? document.file : resolve(dirname(document.file), path);
    const entry = path === '' ? undefined : await stat(file).catch(() => undefined);
    if (path !== '' && entry === undefined) return 'file not found';
    if (anchor === '' || (path !== '' && (entry.isDirectory() || !isMarkdown(file))))
      return undefined;
    const known = await anchorsIn(file ?? document.name, path === '' ? document.text : undefined);
    return known.has(anchor) || known.has(anchor.toLowerCase())
      ? undefined
      : `no heading #${anchor}`;
  };
  const faultOf = async (document, target) => {
    if (/^https?:/i.test(target)) return onWeb(target);
    if (/^[a-z][a-z0-9+.-]*:/i.test(target) || target.startsWith('//') || target.startsWith('/'))
      return undefined;
    return onDisk(document, target);
  };
  return { faultOf, asked: () => web.size, documents };
}

function splitAnchor(target) {
  const mark = target.indexOf('#');
  const path = (mark < 0 ? target : target.slice(0, mark)).split('?')[0];
  return [decoded(path), mark < 0 ? '' : decoded(target.slice(mark + 1))];
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Runs `work` over all items, a few at once, results in order. */
async function eachOf(items, work) {
  const results = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const index = next;
      next += 1;
      results[index] = await work(items[index]);
    }
  };
  await Promise.all(Array.from({ length: most.atOnce }, lane));
  return results;
}

await runBot(async (packet) => {
  const documents = await documentsOf(packet);
  if (documents.length === 0)
    return {
      question: 'Which Markdown? Give text with links, or the path of a Markdown file or folder.',
    };
  const all = documents.flatMap((document) =>
    linksOf(document.text).map((link) => ({ document, ...link })),
  );
  const links = all.slice(0, most.links);
  const { faultOf, asked } = checker(documents);
  const faults = await eachOf(links, ({ document, target }) => faultOf(document, target));
  const broken = links.flatMap((link, index) =>
    faults[index] === undefined ? [] : [{ ...link, fault: faults[index] }],
  );
  const counted = `${documents.length} document${documents.length === 1 ? '' : 's'}, ${links.length} links, ${asked()} web addresses asked.`;
  const cut =
    all.length > links.length ? `\n\nOnly the first ${most.links} links were checked.` : '';
  if (broken.length === 0) return { summary: `All links are sound. ${counted}${cut}` };
  const lines = broken.map(
    ({ document, line, target, fault }) => `- ${document.name}:${line} \`${target}\`: ${fault}`,
  );
  return { summary: `${broken.length} broken. ${counted}${cut}\n\n${lines.join('\n')}` };
});
