// After the compiler: bundles workflow code once, so that workers start fast, and marks the command executable.
const { chmodSync, existsSync, rmSync, symlinkSync } = require('node:fs');

chmodSync('dist/cli/main.js', 0o755);
Promise.all([
  require('./dist/worker/workflow-code.js').writeWorkflowBundle(),
  require('./dist/examples/refund/business/bundle.js').writeBusinessBundle(),
]).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// In a clone `npx holdfast` is this build; installed as a package, npm makes the link itself.
const bin = 'node_modules/.bin/holdfast';
if (existsSync('node_modules/.bin') && process.platform !== 'win32') {
  rmSync(bin, { force: true });
  symlinkSync('../../dist/cli/main.js', bin);
}
