// Once before all tests: the Temporal server runs, built with visible progress where it must be; the compiled sources,
// the workflow bundles and the page are there. PostgreSQL is only announced: the first test that needs it starts it.
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { register } = require('tsx/cjs/api');
const fastSetup = require('./fast-setup.cjs');

module.exports = async function globalSetup() {
  await fastSetup();
  const unregister = register();
  // Go collects its garbage at each doubling of what it holds, and servers of tests hold little.
  process.env.GOGC ??= '400';
  let shown = '';
  await require('./temporal-server.ts').startTemporal(({ message, elapsedMs }) => {
    const line = `${message} (${Math.round(elapsedMs / 1000)} s)`;
    if (line !== shown) process.stdout.write(`${line}\n`);
    shown = line;
  });
  // Every test file and every worker process it starts would bundle the workflows again.
  await require('./compiled.ts').bundleWorkflows();
  require('./built-page.ts').buildTestPage();
  const { announcePostgres } = require('./postgres-server.ts');
  announcePostgres(join(tmpdir(), `holdfast-postgres-${process.pid}`));
  unregister();
};
