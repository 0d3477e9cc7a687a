// Once before tests that need no server: the seed, the temporary folder, the compiled sources and their
// workflow bundle.
const { register } = require('tsx/cjs/api');
const { drawSeed } = require('./draw-seed.cjs');

module.exports = async function fastSetup() {
  drawSeed();
  const unregister = register();
  require('./temporary-folder.ts').openTemporaryFolder();
  const { compileSources, bundleCompiledWorkflows } = require('./compiled.ts');
  await compileSources();
  require('./code-cache.cjs').announceCode();
  await bundleCompiledWorkflows();
  unregister();
};
