import { createHash } from 'node:crypto';
import {
  chmodSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { npmCommand, outputOf, runStep } from '../bootstrap/run-child.mjs';
import { installOnce } from './pinned.mjs';
import { ServiceUnavailable } from './service-unavailable.mjs';

// The package carries the browser in its archive, so that any npm registry serves it. Only its files
// are used: its code wants a newer Node.
const packaged = {
  spec: '@sparticuz/chromium@153.0.0',
  archive: 'sparticuz-chromium-153.0.0.tgz',
  sha512:
    'jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==',
};

const systemNames = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * The machine's own Chromium or Chrome where one runs, else the pinned one (x86-64 Linux only).
 * `path` is its executable; `env` is what that needs beside the usual environment.
 */
export async function prepareChromium(folder) {
  return (await systemBrowser()) ?? (await packagedBrowser(folder));
}

async function systemBrowser() {
  for (const directory of [...(process.env.PATH ?? '').split(delimiter), '/opt/google/chrome']) {
    for (const name of systemNames) {
      const path = join(directory, name);
      if (!existsSync(path)) continue;
      const version = versionIn(await outputOf(path, ['--version']));
      if (version !== undefined) return { path, version };
    }
  }
  return undefined;
}

async function packagedBrowser(folder) {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new ServiceUnavailable(
      `no Chromium found, and the pinned one is for x86-64 Linux, not ${process.platform} ${process.arch}. Install Chromium.`,
    );
  }
  await installOnce(folder, packaged.sha512, 'installing Chromium (70 MB)', () => unpack(folder));
  writeFileSync(join(folder, 'fonts/fonts.conf'), fontsConf(folder));
  const path = join(folder, 'chromium');
  const env = {
    LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
    FONTCONFIG_PATH: join(folder, 'fonts'),
  };
  const version = versionIn(await outputOf(path, ['--version'], { env }));
  if (version === undefined)
    throw new ServiceUnavailable(
      "the pinned Chromium does not start here. Install the system's: apt-get install chromium.",
    );
  return { path, version, env };
}

/** The packed one names folders of another machine; a browser without any font ends at its first word. */
const fontsConf = (folder) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir>${join(folder, 'fonts/fonts')}</dir>
  <cachedir>${join(folder, 'fonts/cache')}</cachedir>
</fontconfig>
`;

async function unpack(folder) {
  const logFile = join(folder, 'install.log');
  const npm = npmCommand();
  await runStep(npm.file, [...npm.args, 'pack', '--silent', packaged.spec], {
    cwd: folder,
    logFile,
  });
  const archive = join(folder, packaged.archive);
  const sha512 = createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (sha512 !== packaged.sha512) {
    throw new ServiceUnavailable(
      `the archive of ${packaged.spec} has sha512 ${sha512}, not the pinned one. It was not unpacked.`,
    );
  }
  await runStep('tar', ['-xzf', archive], { cwd: folder, logFile });
  const bin = join(folder, 'package/bin');
  await decompress(join(bin, 'chromium.br'), join(folder, 'chromium'));
  chmodSync(join(folder, 'chromium'), 0o755);
  for (const part of ['al2023', 'fonts']) {
    const tar = join(folder, `${part}.tar`);
    await decompress(join(bin, `${part}.tar.br`), tar);
    mkdirSync(join(folder, part));
    await runStep('tar', ['-xf', tar, '-C', join(folder, part)], { cwd: folder, logFile });
    rmSync(tar);
  }
  rmSync(archive);
  rmSync(join(folder, 'package'), { recursive: true });
}

const decompress = (from, to) =>
  pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to));

const versionIn = (text) => text?.match(/\d+(?:\.\d+){2,3}/)?.[0];
