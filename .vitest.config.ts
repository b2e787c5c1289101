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
    testTimeout: 60_000,
    hookTimeout: 300_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
