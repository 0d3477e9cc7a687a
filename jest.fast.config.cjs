// What needs no server, no PostgreSQL and no browser: `npm run test:fast`.
const { availableParallelism } = require('node:os');
const whole = require('./jest.config.cjs');

const FOLDERS = ['authoring', 'cli', 'core', 'evaluation', 'providers', 'pure', 'store'];
const SERVED = [
  'cli/postgres',
  'evaluation/temporal',
  'store/postgres',
  'scenarios/(?!scenarios\\.)',
];

/** @type {import('jest').Config} */
module.exports = {
  ...whole,
  testMatch: [...FOLDERS, 'scenarios'].map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
  testPathIgnorePatterns: ['/node_modules/', ...SERVED.map((path) => `<rootDir>/test/${path}`)],
  globalSetup: '<rootDir>/test/fast-setup.cjs',
  maxWorkers: availableParallelism() + 1,
  // Commands that find no server wait a second and a half for one.
  maxConcurrency: 20,
};
