import { chromium, type Browser } from 'playwright-core';
import { availableService } from './service.ts';

/** Needed as root and without a GPU; the rest keeps it from talking to the network on its own. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts the real, headless Chromium that `npm test` found or installed. The caller closes it. */
export function launchChromium(): Promise<Browser> {
  const { path, env = {} } = availableService('chromium');
  return chromium.launch({
    executablePath: path,
    args: flags,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], LANG: 'C.UTF-8', ...env },
  });
}
