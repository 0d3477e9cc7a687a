/** A server that is named by its IP address. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const SCRIPT = `
  require('tsx/cjs');
  const { quietOnServerNames } = require('./cli/server-names.ts');
  if (process.env.QUIET) quietOnServerNames(process);
  const { connect } = require('node:tls');
  connect({ host: '127.0.0.1', port: 1, servername: '127.0.0.1' }).on('error', () => undefined);
  process.emitWarning('This one is printed.', 'DeprecationWarning', 'DEP0001');
`;

function printed(variables: Record<string, string>): string {
  const cwd = join(__dirname, '..', '..');
  const command = `"${process.execPath}" -e "$SCRIPT" 2>&1`;
  const env = { ...process.env, NODE_OPTIONS: '', SCRIPT, ...variables };
  return execFileSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' });
}

test('is no warning of a command, other warnings are', () => {
  expect(printed({})).toMatch(/DEP0123/);
  const quiet = printed({ QUIET: '1' });
  expect(quiet).not.toMatch(/DEP0123/);
  expect(quiet).toMatch(/This one is printed/);
});
