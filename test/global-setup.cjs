// Once before all tests: the Temporal server is there, built with visible progress where it must be.
const { register } = require('tsx/cjs/api');

module.exports = async function globalSetup() {
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
  unregister();
};
