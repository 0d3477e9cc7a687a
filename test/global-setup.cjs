// Once before all tests: the Temporal server is there, built with visible progress where it must be, and so are the
// compiled sources, the workflow bundles and the page. PostgreSQL is only announced: the first test that needs it
// starts it.
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { register } = require('tsx/cjs/api');
const fastSetup = require('./fast-setup.cjs');

module.exports = async function globalSetup() {
  await fastSetup();
  const unregister = register();
  const { findServer } = require('../devserver/index.ts');
  let shown = '';
  await findServer({
    environment: process.env,
    onProgress({ message, elapsedMs }) {
      const line = `${message} (${Math.round(elapsedMs / 1000)} s)`;
      if (line !== shown) process.stdout.write(`${line}\n`);
      shown = line;
    },
  });
  // Every test file and every worker process it starts would bundle the workflows again.
  await require('./compiled.ts').bundleWorkflows();
  require('./built-page.ts').buildTestPage();
  const { announcePostgres } = require('./postgres-server.ts');
  announcePostgres(join(tmpdir(), `holdfast-postgres-${process.pid}`));
  unregister();
};
