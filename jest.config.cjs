const { availableParallelism } = require('node:os');

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: '<rootDir>/test/one-context.cjs',
  runtime: '<rootDir>/test/shared-modules.cjs',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  globalSetup: '<rootDir>/test/global-setup.cjs',
  globalTeardown: '<rootDir>/test/global-teardown.cjs',
  transform: { '^.+\\.ts$': '@swc/jest' },
  // Sources name their imports as they are emitted (./x.js); jest runs the TypeScript itself.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  // Most tests wait for servers and processes most of their time: more of them than cores keep the cores busy.
  maxWorkers: Math.max(6, availableParallelism()),
  testSequencer: '<rootDir>/test/sequencer.cjs',
  reporters: ['<rootDir>/test/quiet-reporter.cjs', 'summary'],
  // Replays by the SDK's own worker leave hooks on every promise of their process behind: a worker that has grown is replaced.
  workerIdleMemoryLimit: '900MB',
  // Only what hangs comes near it, also where five of them share two busy cores.
  testTimeout: 180_000,
};
