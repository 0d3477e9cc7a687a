// What needs no server, no PostgreSQL and no browser: `npm run test:fast`.
const { availableParallelism } = require('node:os');
const whole = require('./jest.config.cjs');

// Of the longest files a sixth, as the seed draws (test/drawn-files.cjs).
process.env.HOLDFAST_FILES ??= 'fast';

const FOLDERS = ['attachments', 'authoring', 'cli', 'core', 'providers', 'pure', 'store'];
const LEFT_OUT = [
  // They need a server.
  'cli/postgres',
  'store/postgres',
  'scenarios/(?!scenarios\\.)',
  // Together they cost as much as all other tests of the providers.
  'providers/(conformance|error-table|stream-cuts)',
];

/** @type {import('jest').Config} */
module.exports = {
  ...whole,
  testMatch: [...FOLDERS, 'scenarios'].map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
  testPathIgnorePatterns: ['/node_modules/', ...LEFT_OUT.map((path) => `<rootDir>/test/${path}`)],
  globalSetup: '<rootDir>/test/fast-setup.cjs',
  maxWorkers: availableParallelism() + 1,
  // Commands that find no server wait a second and a half for one.
  maxConcurrency: 20,
};
