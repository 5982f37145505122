// Checks the links of Markdown: files by looking, anchors by reading, web addresses by asking.
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { counted } from './counted.mjs';
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

/** `faultOf(document, target)`: undefined for a link that is sound or of a kind nobody can check, else why it is broken. */
function checker() {
  const web = webChecker(listOf('LINK_CHECKER_ALLOW_HOSTS'));
  const anchorsIn = anchorReader();
  let unchecked = 0;
  const faultOf = async (document, target) => {
    if (/^https?:/i.test(target)) return web.faultOf(target);
    if (!/^([a-z][a-z0-9+.-]*:|\/)/i.test(target)) return diskFault(document, target, anchorsIn);
    unchecked += 1;
    return undefined;
  };
  return { faultOf, asked: web.asked, unchecked: () => unchecked + web.unchecked() };
}

/** Each address is asked once, however often it is named, and at most `most.web` of them. */
function webChecker(allowed) {
  const answers = new Map();
  let unchecked = 0;
  const faultOf = (target) => {
    const address = target.split('#')[0];
    if (!URL.canParse(address)) return 'not an address';
    if (!answers.has(address) && answers.size >= most.web) {
      unchecked += 1;
      return undefined;
    }
    if (!answers.has(address)) answers.set(address, webFault(address, allowed));
    return answers.get(address);
  };
  return { faultOf, asked: () => answers.size, unchecked: () => unchecked };
}

async function diskFault(document, target, anchorsIn) {
  const [path, anchor] = splitAnchor(target);
  const isSame = path === '';
  if (document.file === undefined && !isSame) return 'a relative link, and the text has no folder';
  const file = isSame ? document.file : resolve(dirname(document.file), path);
  const entry = isSame ? undefined : await stat(file).catch(() => undefined);
  if (!isSame && entry === undefined) return 'file not found';
  if (anchor === '' || (!isSame && (entry.isDirectory() || !isMarkdown(file)))) return undefined;
  const known = isSame ? anchorsOf(document.text) : await anchorsIn(file);
  const isKnown = known.has(anchor) || known.has(anchor.toLowerCase());
  return isKnown ? undefined : `no heading #${anchor}`;
}

function anchorReader() {
  const read = new Map();
  return (file) => {
    if (!read.has(file)) read.set(file, readFile(file, 'utf8').then(anchorsOf));
    return read.get(file);
  };
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

function report({ documents, links, broken, asked, unchecked, cut }) {
  const seen = [
    `${counted(documents.length, 'document')}, ${counted(links.length, 'link')}, web addresses asked: ${asked}.`,
    ...(unchecked > 0 ? [`Not checked: ${unchecked} (mail, absolute paths, or too many).`] : []),
    ...(cut > 0 ? [`${counted(cut, 'link')} beyond the first ${most.links} left out.`] : []),
  ].join(' ');
  if (broken.length === 0) return `All links are sound. ${seen}`;
  const lines = broken.map(
    ({ document, line, target, fault }) => `- ${document.name}:${line} \`${target}\`: ${fault}`,
  );
  return `${broken.length} broken. ${seen}\n\n${lines.join('\n')}`;
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
  const { faultOf, asked, unchecked } = checker();
  const judged = await eachOf(links, async (link) => ({
    ...link,
    fault: await faultOf(link.document, link.target),
  }));
  const broken = judged.filter(({ fault }) => fault !== undefined);
  const cut = all.length - links.length;
  const counts = { asked: asked(), unchecked: unchecked(), cut };
  return { summary: report({ documents, links, broken, ...counts }) };
});
