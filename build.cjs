// Builds dist/: compiles the sources, then bundles the workflow code once, so that workers start fast.
const { rmSync, chmodSync } = require('node:fs');
const { execFileSync } = require('node:child_process');
const path = require('node:path');

const dist = path.join(__dirname, 'dist');
rmSync(dist, { recursive: true, force: true });
execFileSync(
  process.execPath,
  [require.resolve('typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
  {
    cwd: __dirname,
    stdio: 'inherit',
  },
);
chmodSync(path.join(dist, 'cli', 'main.js'), 0o755);
require('./dist/worker/workflow-code.js')
  .writeWorkflowBundle()
  .catch((error) => {
    console.error(error);
    process.exitCode = 1;
  });
