/** Commands of this program in its own sentences, as whoever reads them has to type them. */
import { shellWord } from './answer-commands.js';

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

/** Commands of commands: these take the options, not what they belong to. */
const BELOW: Readonly<Partial<Record<(typeof COMMAND_NAMES)[number], string>>> = {
  audit: 'verify|head|list',
  goal: 'start|check|list|show|watch|log|brief|plan|steer|pause|resume|wake|stop|cancel|review|budget|pace|handoff|restart',
  keys: 'list|create|rotate|trust|revoke',
  mcp: 'list|check|diff|login|logout|approve',
  schedule: 'create|list|show|pause|resume|trigger|backfill|delete',
  store: 'show|restored|adopt',
};

const NAMED = COMMAND_NAMES.map((name) => {
  const below = BELOW[name];
  return below === undefined ? name : `${name}(?: (?:${below}))?`;
});

const COMMAND = new RegExp(
  `(?<![\\w/\\\\.@-]|npx\\s+|exec\\s+|yarn\\s+|bunx\\s+)holdfast( (?:(?:${NAMED.join('|')}|COMMAND)(?![\\w-])|(?=\\[|--)))`,
  'g',
);

const PLACE_FLAGS = ['--address', '--namespace', '--task-queue', '--store', '--home'] as const;
const ALL_FLAGS = [...PLACE_FLAGS, '--config', '--desk'] as const;

/** Options by which a command line says where things are. */
export type GivenPlace = Readonly<Partial<Record<(typeof ALL_FLAGS)[number], string>>>;

/** Other commands mean by `--config` what they try, not what a worker serves. */
export const SERVE = /^(?:console|dev|doctor|mcp-server|worker)$/;
const AT_DESK =
  /^(?:answer|approvals|approve|effects|failures|freeze|grounds|interrupt|list|message|modify|reject|replace|show|transcript|mcp .+|audit (?:head|list)|goal (?:list|plan|steer|pause|resume|wake|stop|cancel|review|budget|pace|handoff))$/;
const PLACELESS = new RegExp(`^(?:COMMAND|eval|help|init|${Object.keys(BELOW).join('|')})?$`);

/** Of these options those that sentences repeat for a command: `goal show`. A test looks whether the program has them. */
export function repeatedFlags(command: string): readonly (keyof GivenPlace)[] {
  if (PLACELESS.test(command)) return [];
  if (command === 'server') return ['--home'];
  if (command === 'whoami') return ['--desk'];
  // Sentences name it to have a server started, and with an address it starts none.
  if (command === 'dev') return ['--task-queue', '--store', '--home', '--config'];
  if (SERVE.test(command)) return [...PLACE_FLAGS, '--config'];
  return AT_DESK.test(command) ? [...PLACE_FLAGS, '--desk'] : PLACE_FLAGS;
}

const PAGE = /(?<![\w/.-])docs(\/[a-z]+\/[\w-]+\.md)(?:\s+in\s+the\s+package(?:\s+holdfast)?)?/g;

/**
 * For texts of Holdfast's own alone: a text of a user stays as it is. What was given is repeated, or the command would look
 * elsewhere. `docs`: where the pages lie, as the reader's folder names it.
 */
export function asCalled(
  invocation: string,
  given: GivenPlace = {},
  docs?: string,
): (text: string) => string {
  const named = (text: string): string =>
    docs === undefined ? text : text.replace(PAGE, (_, page: string) => `${docs}${page}`);
  return (text) =>
    named(text).replace(COMMAND, (whole, command: string, at: number) => {
      const rest = /^[^`\n]*/.exec(text.slice(at + whole.length))?.[0] ?? '';
      const words = repeatedFlags(command.trim()).map((flag) => {
        const value = given[flag];
        return value === undefined || rest.includes(` ${flag}`)
          ? ''
          : ` ${flag} ${shellWord(value)}`;
      });
      return `${invocation}${command}${words.join('')}`;
    });
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
