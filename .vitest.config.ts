import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      '.ci/**/*.test.ts',
      'app/**/*.test.ts',
      'bench/**/*.test.ts',
      'engine/**/*.test.ts',
      'e2e/**/*.test.ts',
      'renderer/**/*.test.ts',
    ],
    // They end what hangs and judge nothing: on a machine that is busy with other work a test may take ten times as long.
    testTimeout: 600_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 120_000 } },
    pool: 'forks',
    maxWorkers: 2,
  },
});
