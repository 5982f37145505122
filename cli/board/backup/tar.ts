import { execFile } from 'node:child_process';
import { InvalidValueError, MeshError } from '../../../fabric/domain/errors.ts';
import type { Environment } from '../../config.ts';

/** The system's tar, on .tar.gz files. Everything rejects with a MeshError that has tar's own first line. */
export interface Tar {
  /** Packs `entries` of `folder`, in that order. */
  pack(folder: string, entries: readonly string[], file: string): Promise<void>;
  /** One file of an archive. */
  textOf(file: string, entry: string): Promise<string>;
  /** For its owner only, whoever packed it; never outside of `folder`. */
  unpack(file: string, folder: string): Promise<void>;
}

const passedOn = ['PATH', 'TMPDIR'];
const textBytes = 1024 * 1024;

export function systemTar(environment: Environment['all'], signal: AbortSignal): Tar {
  const kept = passedOn.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value]];
  });
  const env = { ...(Object.fromEntries(kept) as Record<string, string>), LC_ALL: 'C' };
  const tar = (args: readonly string[], what: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { env, signal, maxBuffer: textBytes };
      execFile('tar', args, options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else if (signal.aborted) reject(signal.reason as Error);
        else reject(toMeshError(error, what, stderr));
      });
    });
  return {
    async pack(folder, entries, file) {
      await tar(['-czf', file, '-C', folder, '--', ...entries], `${file} can't be written`);
    },
    textOf: (file, entry) => tar(['-xzOf', file, '--', entry], unreadable(file)),
    async unpack(file, folder) {
      const mine = ['--no-same-owner', '--no-same-permissions'];
      await tar(['-xzf', file, ...mine, '-C', folder], unreadable(file));
    },
  };
}

const unreadable = (file: string): string => `${file} is no backup of a mesh, or not whole`;

function toMeshError(cause: Error & { code?: unknown }, what: string, stderr: string): MeshError {
  if (cause.code === 'ENOENT') {
    return new MeshError('FABRIC_DOWN', 'There is no tar on this machine. Install it.');
  }
  const said = stderr.trim().split('\n')[0]?.slice(0, 300);
  const why = said || 'tar was stopped or gave no reason';
  return new InvalidValueError(`${what}: ${why}.`, 'file', { cause });
}
