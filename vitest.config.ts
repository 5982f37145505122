import { defineConfig } from 'vitest/config';

const full = process.env['MESH_TEST_FULL'] === '1';
const long = 'test/**/*.full.test.{ts,tsx}';

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'hono/jsx' } },
  test: {
    environment: 'node',
    include: ['test/**/*.test.{ts,tsx}'],
    exclude: [
      '**/node_modules/**',
      'dist/**',
      '.services/**',
      '.build/**',
      ...(full ? [] : [long]),
    ],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    reporters: ['default', './test/support/plain-line-reporter.ts'],
  },
});
