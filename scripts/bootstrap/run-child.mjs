import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { SetupError } from './setup-error.mjs';

const tailLines = 15;

/** The npm that started us, run by this Node and without a shell; else the one beside this Node. */
export function npmCommand(env = process.env) {
  const beside = join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js');
  for (const cli of [env.npm_execpath, beside]) {
    if (cli !== undefined && basename(cli) === 'npm-cli.js' && existsSync(cli)) {
      return { file: process.execPath, args: [cli] };
    }
  }
  return { file: process.platform === 'win32' ? 'npm.cmd' : 'npm', args: [] };
}

/**
 * How a child ended. Until then TERM and HUP that we get are passed on to it; so is INT, unless a
 * terminal has sent it to the whole group already. Else a set-up step would outlive its lock.
 */
async function ended(child, file) {
  const passOn = (signal) => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, passOn);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', (cause) =>
        reject(
          new SetupError(`Could not start ${file}: ${cause.message}. Is it installed?`, { cause }),
        ),
      );
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
  } finally {
    for (const signal of signals) process.off(signal, passOn);
  }
}

/**
 * Runs a step of the set-up, its output on our stderr, or in `logFile` if one is given; it reads
 * `input`.
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{cwd: string, env?: Record<string, string>, logFile?: string, timeoutMs?: number, input?: string}} options
 * @throws {SetupError} when it does not exit with 0; with a log file its last lines are in the message
 */
export async function runStep(file, args, { cwd, env = {}, logFile, timeoutMs, input }) {
  const log = logFile === undefined ? 2 : openSync(logFile, 'a');
  try {
    const child = spawn(file, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', log, log],
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    });
    // A child that ends before it has read all says why by its exit code, not by our broken pipe.
    child.stdin?.on('error', () => undefined).end(input);
    const { code, signal } = await ended(child, file);
    if (code === 0) return;
    const shown = [basename(file), ...args].join(' ').slice(0, 200);
    const how = signal === null ? `exit code ${code}` : signal;
    throw new SetupError(`\`${shown}\` ended with ${how}.${tailOf(logFile)}`);
  } finally {
    if (log !== 2) closeSync(log);
  }
}

/** What a short program says on stdout, trimmed; undefined where it is missing or fails. */
export function outputOf(file, args, { timeoutMs = 20_000, env = {}, cwd } = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: timeoutMs,
      env: { ...process.env, ...env },
      cwd,
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    child.once('error', () => resolve(undefined));
    child.once('close', (code) => resolve(code === 0 ? text.trim() : undefined));
  });
}

function tailOf(logFile) {
  if (logFile === undefined) return '';
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-tailLines);
  return ` The end of ${logFile}:\n${lines.join('\n')}`;
}

/**
 * Runs the program a person asked for on our own terminal.
 * @returns {Promise<number>} its exit code; 128 + the signal's number where a signal ended it
 */
export async function runForeground(file, args, { cwd, env = {} }) {
  const child = spawn(file, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' });
  const { code, signal } = await ended(child, file);
  return code ?? 128 + (osConstants.signals[signal] ?? 0);
}
