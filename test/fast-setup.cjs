// Once before tests that need no server: the seed, the temporary folder, the compiled sources.
const { register } = require('tsx/cjs/api');
const { drawSeed } = require('./draw-seed.cjs');

module.exports = async function fastSetup() {
  drawSeed();
  const unregister = register();
  require('./temporary-folder.ts').openTemporaryFolder();
  await require('./compiled.ts').compileSources();
  require('./code-cache.cjs').announceCode();
  unregister();
};
