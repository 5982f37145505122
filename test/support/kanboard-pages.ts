import type { Locator, Page } from 'playwright-core';

/** What a person does and sees in Kanboard's own pages, with mouse and keyboard. */
export interface KanboardPages {
  login(username: string, password: string): Promise<void>;
  /** The names of all projects that the dashboard shows, over its pages. */
  projects(): Promise<readonly string[]>;
  /** From the dashboard, by its link. */
  openBoard(project: string): Promise<void>;
  /** By the + of the column on the board that is open. */
  createTask(column: string, title: string, description: string): Promise<void>;
  /** The column that a board task lies in on the board that is open, looked at anew. */
  columnOf(title: string): Promise<string | undefined>;
  /** With the mouse; ends when Kanboard has saved it. */
  drag(title: string, column: string): Promise<void>;
  /** From the board that is open. */
  openTask(title: string): Promise<void>;
  /** Of the task's page that is open, looked at anew, as they are shown. */
  comments(): Promise<readonly string[]>;
  /** By the link of the task's page that is open, and the question after it. */
  closeTask(): Promise<void>;
}

export function kanboardPages(page: Page, baseUrl: string): KanboardPages {
  const card = (title: string) => page.locator('.task-board', { hasText: title });
  const dashboard = () => page.goto(`${baseUrl}/?controller=DashboardController&action=show`);
  const links = () => page.locator('.table-list-title a');
  const next = () => page.locator('.pagination-next a').first();
  return {
    async login(username, password) {
      await page.goto(`${baseUrl}/`);
      await page.fill('input[name=username]', username);
      await page.fill('input[name=password]', password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForSelector('header');
    },
    async projects() {
      await dashboard();
      const names = await links().allTextContents();
      while ((await next().count()) > 0) {
        await next().click();
        await page.waitForLoadState();
        names.push(...(await links().allTextContents()));
      }
      return names.map((name) => name.trim());
    },
    async openBoard(project) {
      await dashboard();
      const link = links().getByText(project, { exact: true });
      while ((await link.count()) === 0) {
        await next().click();
        await page.waitForLoadState();
      }
      await link.click();
      await page.waitForSelector('#board');
    },
    async createTask(column, title, description) {
      const header = page.locator('th.board-column-header', { hasText: column });
      await header.locator('.board-add-icon a').click();
      await page.fill('#modal-content input[name=title]', title);
      await page.fill('#modal-content textarea[name=description]', description);
      await page.locator('#modal-content button[type=submit]').click();
      await page.locator('#modal-content').waitFor({ state: 'detached' });
      await card(title).waitFor();
    },
    async columnOf(title) {
      await page.reload();
      const one = card(title);
      if ((await one.count()) === 0) return undefined;
      const id = await one.first().getAttribute('data-column-id');
      const name = page.locator(
        `th[data-column-id="${id ?? ''}"] .board-column-title .dropdown-menu`,
      );
      return (await name.first().textContent())?.trim();
    },
    async drag(title, column) {
      await moveMouse(page, card(title), await listOf(page, column));
    },
    async openTask(title) {
      await card(title).locator('.task-board-title a').click();
      await page.waitForSelector('#task-summary');
    },
    async comments() {
      await page.reload();
      return page.locator('.comment-content').allInnerTexts();
    },
    async closeTask() {
      await page.getByRole('link', { name: 'Close this task' }).last().click();
      await page.locator('#modal-content #modal-confirm-button').click();
      await page.locator('#task-summary').getByText('closed', { exact: true }).waitFor();
    },
  };
}

/** The list of tasks below the header that bears this name. */
async function listOf(page: Page, column: string): Promise<Locator> {
  const header = page.locator('th.board-column-header', { hasText: column });
  const id = await header.getAttribute('data-column-id');
  return page.locator(`.board-task-list.board-column-expanded[data-column-id="${id ?? ''}"]`);
}

async function moveMouse(page: Page, from: Locator, to: Locator): Promise<void> {
  const [start, end] = await Promise.all([from.boundingBox(), to.boundingBox()]);
  if (start === null || end === null) throw new Error('what is dragged, or where to, is not shown');
  const saved = page.waitForResponse(
    (response) => response.request().method() === 'POST' && /save/u.test(response.url()),
  );
  await page.mouse.move(start.x + start.width / 2, start.y + start.height - 4);
  await page.mouse.down();
  await page.mouse.move(end.x + end.width / 2, end.y + 12, { steps: 20 });
  // jQuery UI settles where the pointer rests, not where it was on the way.
  await page.mouse.move(end.x + end.width / 2 + 1, end.y + 14, { steps: 2 });
  await page.mouse.up();
  const status = (await saved).status();
  if (status >= 300) throw new Error(`Kanboard did not save the drag: ${status}`);
}
