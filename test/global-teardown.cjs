// Once after all tests: what they share is stopped.
const { register } = require('tsx/cjs/api');

module.exports = async function globalTeardown() {
  const unregister = register();
  await require('./temporal-server.ts').stopTemporal();
  await require('./postgres-server.ts').stopPostgres();
  require('./built-page.ts').removeTestPage();
  require('./temporary-folder.ts').removeTemporaryFolder();
  unregister();
};
