// After the compiler: bundles workflow code once, so that workers start fast, and marks the command executable.
const { chmodSync } = require('node:fs');

chmodSync('dist/cli/main.js', 0o755);
Promise.all([
  require('./dist/worker/workflow-code.js').writeWorkflowBundle(),
  require('./dist/examples/refund/business/bundle.js').writeBusinessBundle(),
]).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
