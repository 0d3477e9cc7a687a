/** Commands of this program in its own sentences, as whoever reads them has to type them. */

/** Under these names sentences call commands; a test compares them with the program's. */
export const COMMAND_NAMES = [
  'answer',
  'approvals',
  'approve',
  'audit',
  'bundles',
  'cancel',
  'capture',
  'chat',
  'close',
  'console',
  'dev',
  'diff',
  'doctor',
  'effects',
  'eval',
  'explain',
  'export',
  'failures',
  'folder',
  'fork',
  'freeze',
  'goal',
  'grounds',
  'help',
  'init',
  'inspect',
  'interrupt',
  'keys',
  'list',
  'mcp',
  'mcp-server',
  'message',
  'mode',
  'modify',
  'reject',
  'replace',
  'replay',
  'schedule',
  'server',
  'sessions',
  'set',
  'show',
  'start',
  'store',
  'transcript',
  'watch',
  'whoami',
  'worker',
] as const;

const COMMAND = new RegExp(
  `(?<![\\w/\\\\.@-]|npx |exec |yarn |bunx )holdfast(?= (?:${COMMAND_NAMES.join('|')}|COMMAND|\\[|--)(?![\\w-]))`,
  'g',
);

/** For texts of Holdfast's own alone: a text of a user stays as it is. */
export function asCalled(invocation: string): (text: string) => string {
  if (invocation === OWN_NAME) return (text) => text;
  return (text) => text.replace(COMMAND, () => invocation);
}

export const OWN_NAME = 'holdfast';

/**
 * What stands before the name of a command: `holdfast` where the shell finds it, else the package manager that does.
 * `script` is the path under which Node was given the program, `agent` what the manager calls itself (npm_config_user_agent).
 */
export function invocationOf(script: string, agent: string | undefined): string {
  // Global commands are called by a link outside of node_modules, or, on Windows, without a package manager.
  const isLocal = LOCAL_LINK.test(script) || (agent !== undefined && LOCAL_PACKAGE.test(script));
  if (!isLocal) return OWN_NAME;
  const [manager = ''] = (agent ?? '').split('/');
  return BY_MANAGER.get(manager) ?? 'npx holdfast';
}

const LOCAL_LINK = /[\\/]node_modules[\\/]\.bin[\\/]holdfast$/;
const LOCAL_PACKAGE = /[\\/]node_modules[\\/]holdfast[\\/]/;

const BY_MANAGER: ReadonlyMap<string, string> = new Map([
  ['pnpm', 'pnpm exec holdfast'],
  ['yarn', 'yarn holdfast'],
  ['bun', 'bunx holdfast'],
]);
