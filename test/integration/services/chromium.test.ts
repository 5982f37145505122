import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../support/services/chromium.ts';
import { describeWith } from '../../support/services/service.ts';

describeWith('chromium', 'the real browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  it('runs a script, takes a click and draws text', async () => {
    const page = await browser.newPage();
    await page.setContent(`<button onclick="this.textContent = 'clicked'">go</button>`);
    const before = await page.screenshot();
    await page.click('button');
    expect(await page.textContent('button')).toBe('clicked');
    const after = await page.screenshot();
    expect(after.subarray(1, 4).toString()).toBe('PNG');
    expect(after.equals(before)).toBe(false);
  });
});
