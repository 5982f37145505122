/** Served as a file of its own, so that the page's policy needs no inline style. */
export const inboxCss = `
:root { color-scheme: light dark; --ink: #1a1a1e; --soft: #5c5f6a; --line: #d8dae0; --paper: #fbfbfc;
  --card: #fff; --accent: #2457c5; --go: #1d7a46; --stop: #b3261e; --warn: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf1; --soft: #a2a6b3; --line: #383b45;
  --paper: #16171b; --card: #1e2026; --accent: #8ab0ff; --go: #6fd39b; --stop: #ff8a80; --warn: #f2c068; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
header, main, footer { max-width: 52rem; margin: 0 auto; padding: 1rem 1.25rem; }
header { display: flex; align-items: center; gap: 1rem; border-bottom: 1px solid var(--line); }
header h1 { font-size: 1.15rem; margin: 0; flex: 1; }
a { color: var(--accent); }
.count, .soft, time { color: var(--soft); font-size: .9rem; }
ol.items { list-style: none; margin: 0; padding: 0; }
ol.items > li { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  margin: .9rem 0; padding: .9rem 1.1rem; }
ol.items > li.empty { border: 0; background: none; text-align: center; color: var(--soft); padding: 3rem 0; }
ol.items > li:focus-within { outline: 2px solid var(--accent); outline-offset: 2px; }
.kind, .kind time { font-size: .75rem; }
.kind { letter-spacing: .04em; text-transform: uppercase; color: var(--soft); }
.urgent { color: var(--stop); font-weight: 600; }
h2 { font-size: 1.05rem; margin: .2rem 0 .4rem; }
h2 a { color: inherit; text-decoration-color: var(--line); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0; font: inherit; }
section { margin-top: 1.4rem; }
section.asked { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .6rem 1.1rem 1rem; }
section:not(.asked) pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .7rem .9rem; }
form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; margin: .7rem 0 0; }
header form { margin: 0; }
label { flex: 1 1 16rem; display: block; font-size: .85rem; color: var(--soft); }
textarea, input[type=text] { width: 100%; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--line); border-radius: 7px; padding: .45rem .6rem; }
button { font: inherit; padding: .45rem .95rem; border-radius: 7px; border: 1px solid var(--line);
  background: var(--card); color: var(--ink); cursor: pointer; }
button.go { border-color: var(--go); background: var(--go); color: var(--paper); } button.stop { border-color: var(--stop); color: var(--stop); }
button:focus-visible, a:focus-visible, textarea:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.notice { border-left: 4px solid var(--warn); padding: .4rem .8rem; background: var(--card); }
kbd { border: 1px solid var(--line); border-radius: 4px; padding: 0 .3rem; font-size: .85em; }
`;

/** Live updates and single-key moves; without it every page still works by links and forms. */
export const inboxJs = `
'use strict';
const list = () => document.getElementById('items');
const typing = () => /^(TEXTAREA|INPUT)$/.test(document.activeElement?.tagName ?? '');
const links = () => [...document.querySelectorAll('ol.items h2 a')];
function move(step) {
  const all = links();
  const at = all.findIndex((link) => link.closest('li').contains(document.activeElement));
  all[Math.min(Math.max(at + step, 0), all.length - 1)]?.focus();
}
document.addEventListener('keydown', (event) => {
  if (typing() || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'j') move(1);
  else if (event.key === 'k') move(-1);
  else if (event.key === 'u') location.assign('/inbox');
  else return;
  event.preventDefault();
});
let stale = false;
async function refresh() {
  const before = list();
  if (!before) return;
  stale = typing();
  if (stale) return;
  const answer = await fetch('/inbox/items', { headers: { accept: 'text/html' } });
  if (answer.status === 401) return location.reload();
  if (!answer.ok) return;
  const html = await answer.text();
  stale = typing();
  if (stale) return;
  const typed = [...before.querySelectorAll('textarea, input[type=text]')].map((field) => [field.id, field.value]);
  const focused = document.activeElement?.id;
  before.outerHTML = html;
  for (const [id, value] of typed) {
    const field = document.getElementById(id);
    if (field) field.value = value;
  }
  if (focused) document.getElementById(focused)?.focus();
  const count = Number(list().dataset.count);
  document.title = count > 0 ? '(' + count + ') Inbox' : 'Inbox';
  document.getElementById('count').textContent = count > 0 ? count + ' open' : '';
}
// A front that is away for a moment says so by the stream, which comes back by itself.
const look = () => void refresh().catch(() => { stale = true; });
document.addEventListener('focusout', () => setTimeout(() => { if (stale) look(); }));
const changes = new EventSource('/inbox/changes');
changes.addEventListener('open', look);
changes.addEventListener('changed', look);
`;
