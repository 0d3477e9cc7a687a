// Once before tests that need no server: the seed, the temporary folder, the compiled sources.
const { register } = require('tsx/cjs/api');

module.exports = async function fastSetup() {
  // One seed for the choices of all tests: it repeats them.
  process.env.HOLDFAST_SEED ??=
    process.env.CI_SEED ?? String(Math.floor(Math.random() * 1_000_000));
  const unregister = register();
  require('./temporary-folder.ts').openTemporaryFolder();
  await require('./compiled.ts').compileSources();
  require('./code-cache.cjs').announceCode();
  unregister();
};
