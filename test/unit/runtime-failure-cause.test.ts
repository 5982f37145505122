import { describe, expect, it } from 'vitest';
import { causeIn } from '../../agents/runtimes/failure-cause.ts';

const frames = '    at run (node:internal/x:1:2)\n    at node:internal/main:28:49';
const node = (report: string) =>
  `node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\n${report}\n\nNode.js v20.20.2\n`;

describe('the cause of a program that failed', () => {
  it.each([
    [
      'a program that is not there',
      node(
        `Error: Cannot find module '/h/bot.mjs'\n${frames} {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}`,
      ),
      "Error: Cannot find module '/h/bot.mjs'",
    ],
    [
      'an error of several lines',
      node(
        `Error: Cannot find module './nosuch'\nRequire stack:\n- /h/bot.cjs\n${frames} {\n  code: 'X'\n}`,
      ),
      "Error: Cannot find module './nosuch' Require stack: - /h/bot.cjs",
    ],
    [
      'an error with a code',
      node(`Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'\n${frames}`),
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'",
    ],
    [
      'what lies beneath',
      node(`TypeError: fetch failed\n${frames} {\n  [cause]: Error: bad port\n  ${frames}\n}`),
      'TypeError: fetch failed (Error: bad port)',
    ],
    [
      'a thrown value',
      '\nnode:x:123\n    triggerUncaughtException(\n    ^\n{ a: 1 }\n\nNode.js v20.20.2\n',
      '{ a: 1 }',
    ],
    [
      'bad syntax',
      'file:///h/bot.mjs:1\nlet x = ;\n        ^\n\nSyntaxError: Unexpected token\n    at x\n\nNode.js v22.1.0\n',
      'SyntaxError: Unexpected token',
    ],
    [
      'Python',
      'Traceback (most recent call last):\n  File "x", line 2, in <module>\n    y()\n    ^^^\njson.decoder.JSONDecodeError: Expecting value\n',
      'json.decoder.JSONDecodeError: Expecting value',
    ],
    [
      'Java',
      'Exception in thread "main" java.lang.Error: a\n\tat B.main(B.java:3)\nCaused by: java.io.IOException: no disk\n\t... 3 more\n',
      'Caused by: java.io.IOException: no disk',
    ],
    [
      'Go',
      'panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/h/bot.go:4 +0x25\nexit status 2\n',
      'panic: boom',
    ],
    [
      'Rust',
      "\nthread 'main' panicked at src/main.rs:2:5:\nboom\nnote: run with `RUST_BACKTRACE=1` environment variable\n",
      "thread 'main' panicked at src/main.rs:2:5: boom",
    ],
    [
      'Ruby',
      "bot.rb:1:in 'x': boom (RuntimeError)\n\tfrom bot.rb:3:in '<main>'\n",
      "bot.rb:1:in 'x': boom (RuntimeError)",
    ],
    [
      'a shell',
      'bash: line 1: nosuch: command not found\n',
      'bash: line 1: nosuch: command not found',
    ],
    ['its own last word', 'reading 3 files\nno such repository\n', 'no such repository'],
    [
      'its own last word after errors it lived through',
      `Error: try again\n${'waiting\n'.repeat(9)}gave up\n`,
      'gave up',
    ],
    ['nothing but indented text', '  almost\n  nothing\n', 'nothing'],
    ['nothing', '\n \n', ''],
  ])('is found: %s', (_what, stderr, cause) => {
    expect(causeIn(stderr)).toBe(cause);
    expect(causeIn(stderr.replaceAll('\n', '\r\n'))).toBe(cause);
  });
});
