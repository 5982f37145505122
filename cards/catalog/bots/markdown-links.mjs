// Links and anchors of a Markdown text. Code is no link, and an anchor is spelled as GitHub spells it.

/** Every link with its line, counting from 1: inline, image, reference definition, autolink, bare address. */
export function linksOf(markdown) {
  return withoutCode(markdown)
    .split('\n')
    .flatMap((text, index) => linksInLine(text).map((target) => ({ target, line: index + 1 })));
}

function linksInLine(text) {
  const inline = [
    ...text.matchAll(
      /\]\(\s*(?:<([^<>]*)>|([^\s()]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+["'(][^)]*)?\s*\)/g,
    ),
  ];
  const definition = /^ {0,3}\[(?!\^)[^\]]+\]:\s*(?:<([^<>]*)>|(\S+))/.exec(text);
  const angles = [...text.matchAll(/(?<!\()<(https?:\/\/[^\s<>]+)>/g)].map(([, url]) => url);
  const rest = text.replaceAll(/\]\([^)]*\)+|<https?:[^>]*>/g, ' ');
  const words = definition === null ? [...rest.matchAll(/https?:\/\/[^\s<>"'`|\])}]+/g)] : [];
  const bare = [...angles, ...words.map(([url]) => url.replace(/[.,;:!?]+$/, ''))];
  return [
    ...inline.map(([, angle, plain]) => angle ?? plain),
    ...(definition ? [definition[1] ?? definition[2]] : []),
    ...bare,
  ].filter((target) => target !== undefined && target !== '');
}

/** Code becomes blank, line for line, so that line numbers stay true. */
function withoutCode(markdown) {
  let fence;
  return markdown
    .split(/\r?\n/)
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (fence === undefined && mark !== undefined) {
        fence = mark;
        return '';
      }
      if (fence === undefined) return line.replaceAll(/(`+)(?!`).*?[^`]\1(?!`)/g, ' ');
      if (mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length)
        fence = undefined;
      return '';
    })
    .join('\n');
}

/** The anchors a reader can jump to: headings, numbered where they repeat, and ids written as HTML. */
export function anchorsOf(markdown) {
  const seen = new Map();
  const anchors = new Set();
  let fence = false;
  const lines = markdown.split(/\r?\n/);
  lines.forEach((line, index) => {
    if (/^ {0,3}(```|~~~)/.test(line)) fence = !fence;
    if (fence) return;
    for (const [, id] of line.matchAll(/<[a-z][^>]*\s(?:id|name)=["']([^"']+)["']/gi))
      anchors.add(id);
    const next = lines[index + 1] ?? '';
    const isSetext = line.trim() !== '' && /^ {0,3}(=+|-{2,})\s*$/.test(next);
    const title =
      /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/.exec(line)?.[1] ?? (isSetext ? line.trim() : undefined);
    if (title === undefined) return;
    const slug = slugOf(title);
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  });
  return anchors;
}

function slugOf(title) {
  return title
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/<[^>]+>/g, '')
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}
