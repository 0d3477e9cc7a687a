// Once after all tests: what they share is stopped.
const { register } = require('tsx/cjs/api');
const { tellServerCosts } = require('./costs.cjs');

module.exports = async function globalTeardown() {
  const unregister = register();
  const temporal = require('./temporal-server.ts');
  const postgres = require('./postgres-server.ts');
  tellServerCosts('the Temporal server', temporal.temporalPid());
  tellServerCosts('the PostgreSQL server', postgres.postgresPid());
  await temporal.stopTemporal();
  await postgres.stopPostgres();
  require('./built-page.ts').removeTestPage();
  require('./temporary-folder.ts').removeTemporaryFolder();
  unregister();
};
