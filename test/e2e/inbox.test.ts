import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { eventually, startMesh, type MeshProcess } from '../support/mesh-process.ts';
import { submit, taskState } from '../support/mesh-tasks.ts';
import { launchChromium } from '../support/services/chromium.ts';
import { describeWith } from '../support/services/service.ts';

let home: MeshHome;
let mesh: MeshProcess;

beforeAll(async () => {
  home = await meshHome();
  mesh = await startMesh({ home: home.dir });
}, 60_000);
afterAll(async () => {
  await mesh.stop('SIGKILL');
  home.remove();
});

const asked = (uid: string) =>
  eventually(
    () => taskState(mesh, uid),
    ({ phase }) => phase === 'input-required',
  );

describe('the inbox in the terminal', { timeout: 120_000 }, () => {
  it('shows a question once, takes one answer, and the asker has it', async () => {
    const uid = await submit(mesh, 'operator', 'Approve the release?', {
      verification: 'submitter',
    });
    await asked(uid);
    const listed = await mesh.mesh('inbox');
    expect(listed.stdout).toContain(uid.slice(0, 8));
    expect(listed.stdout).toContain('approve|reject');
    const answered = await mesh.mesh('answer', uid.slice(0, 8), 'approve', '--note', 'seen');
    expect([answered.code, answered.stderr]).toEqual([0, '']);
    const done = await eventually(
      () => taskState(mesh, uid),
      ({ phase }) => phase === 'done',
    );
    expect(done.outcome?.artifacts[0]?.text).toBe('approve\n\nseen');
    // Who asks themselves is not asked again to verify their own answer: nobody could.
    expect(done.task.verification).toBe('none');
    expect((await mesh.mesh('inbox')).stdout).toContain('Nothing waits');
    const other = await mesh.mesh('answer', uid.slice(0, 8), 'reject');
    expect(other.code).toBe(7);
  });
});

describeWith('chromium', 'the inbox in a browser', () => {
  /** For people to look at; the newest run's only. */
  const shots = join(tmpdir(), 'mesh-inbox-shots');
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** What the browser complained about: errors, and what the page's policy blocked. */
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await launchChromium();
    context = await browser.newContext({ viewport: { width: 900, height: 760 } });
    page = await context.newPage();
    page.on('console', (said) => {
      if (said.type() === 'error' || said.type() === 'warning') complaints.push(said.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    process.stdout.write(`screenshots: ${shots}\n`);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
  });
  const shoot = (name: string) =>
    page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });

  const link = async (): Promise<string> => {
    const made = await mesh.mesh('inbox', '--web');
    expect(made.code).toBe(0);
    return made.stdout.trim();
  };
  /** The title of the item that has the focus. */
  const focusedItem = () =>
    page.evaluate<string>(
      "document.activeElement?.closest('li')?.querySelector('h2')?.textContent",
    );

  it('opens by a link that works once, and by nothing else', async () => {
    const first = await submit(mesh, 'operator', 'Approve the plan?');
    await asked(first);
    const closed = await page.goto(`${mesh.url}/inbox`);
    expect(closed?.status()).toBe(401);
    await shoot('1-not-logged-in');
    complaints.length = 0; // the 401 itself is told in the console

    const url = await link();
    await page.goto(url);
    await shoot('2-link');
    // The button has the focus: Enter is enough.
    await page.keyboard.press('Enter');
    await page.waitForURL(`${mesh.url}/inbox`);
    expect(await page.title()).toBe('(1) Inbox');
    await shoot('3-one-question');
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/inbox' });

    const again = await fetch(url);
    expect(again.status).toBe(403);
    const posted = await fetch(`${mesh.url}/inbox/login`, {
      method: 'POST',
      body: new URLSearchParams({ key: new URL(url).searchParams.get('key') ?? '' }),
    });
    expect(posted.status).toBe(403);
    expect(posted.headers.get('set-cookie')).toBeNull();
  }, 60_000);

  it('answers by keyboard alone: j, k, Enter, Tab', async () => {
    const second = await submit(mesh, 'operator', 'Which colour shall it have?');
    await asked(second);
    await page.reload();
    await page.keyboard.press('j');
    expect(await focusedItem()).toBe('Approve the plan?');
    await page.keyboard.press('j');
    expect(await focusedItem()).toBe('Which colour shall it have?');
    await page.keyboard.press('k');
    expect(await focusedItem()).toBe('Approve the plan?');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${mesh.url}/inbox/tasks/${second}`);
    await shoot('4-task');
    // From the top of the page: the link back, then the form.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type('green');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${mesh.url}/inbox`);
    const done = await eventually(
      () => taskState(mesh, second),
      ({ phase }) => phase === 'done',
    );
    expect(done.decisions[0]).toMatchObject({ value: 'green', by: 'operator' });
  }, 60_000);

  it('shows a new question without a reload, and keeps what is being typed', async () => {
    await page.evaluate("document.body.setAttribute('data-same-page', 'yes')");
    const third = await submit(mesh, 'operator', 'Approve the budget?');
    await page.waitForSelector(`#t-${third}`);
    expect(await page.title()).toBe('(2) Inbox');
    await page.locator(`li:has(#t-${third}) input[name=note]`).fill('half of');
    const fourth = await submit(mesh, 'operator', 'Approve the venue?');
    await asked(fourth);
    await page.keyboard.type(' it');
    expect(await page.inputValue(`li:has(#t-${third}) input[name=note]`)).toBe('half of it');
    await shoot('5-live');
    // Leaving the field brings what was held back; what was typed stays until then.
    await page.keyboard.press('Tab');
    await page.waitForSelector(`#t-${fourth}`);
    expect(await page.inputValue(`li:has(#t-${third}) input[name=note]`)).toBe('half of it');
    expect(await page.getAttribute('body', 'data-same-page')).toBe('yes');
  }, 60_000);

  it('refuses a form without the token of its session and changes nothing', async () => {
    const uid = await submit(mesh, 'operator', 'Approve the merger?');
    const { question } = await asked(uid);
    for (const csrf of ['', 'f'.repeat(64)]) {
      const form = { csrf, decisionId: question?.decisionId ?? '', value: 'approve' };
      const refused = await page.request.post(`${mesh.url}/inbox/tasks/${uid}/answer`, { form });
      expect(refused.status()).toBeGreaterThanOrEqual(400);
      expect(await refused.text()).toContain('another session');
    }
    expect(await taskState(mesh, uid)).toMatchObject({ phase: 'input-required', decisions: [] });
  }, 60_000);

  it('verifies a result, and a refusal needs its reason', async () => {
    const uid = await submit(mesh, 'understudy', 'hello', { verification: 'submitter' });
    await eventually(
      () => taskState(mesh, uid),
      ({ phase }) => phase === 'done',
    );
    await page.goto(`${mesh.url}/inbox/tasks/${uid}`);
    await shoot('6-verify');
    await page.getByRole('button', { name: 'Refuse' }).click();
    await page.waitForSelector('[role=alert]');
    expect(await page.textContent('[role=alert]')).toContain('needs a note');
    await shoot('7-refused-without-note');
    complaints.length = 0; // the answer's status is told in the console
    await page.goto(`${mesh.url}/inbox/tasks/${uid}`);
    await page.getByRole('button', { name: 'Verify and close' }).click();
    await page.waitForURL(`${mesh.url}/inbox`);
    expect((await taskState(mesh, uid)).phase).toBe('verified');
  }, 60_000);

  it('keeps its policy, says nothing in the console, and logs out', async () => {
    const answer = await page.goto(`${mesh.url}/inbox`);
    const policy = answer?.headers()['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(answer?.headers()['cache-control']).toBe('no-store');
    await page.emulateMedia({ colorScheme: 'dark' });
    await shoot('8-dark');
    await page.setViewportSize({ width: 390, height: 780 });
    await shoot('9-narrow');
    expect(complaints).toEqual([]);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForSelector('text=Log in to see the inbox');
    expect(await context.cookies()).toEqual([]);
    expect((await page.request.get(`${mesh.url}/inbox/items`)).status()).toBe(401);
  }, 60_000);
});
