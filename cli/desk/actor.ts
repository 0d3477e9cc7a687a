/**
 * Who acts at the terminal: whoever a token of the approval desk proves; in local development whoever `--as`
 * names.
 * Invariant: where others are told apart, a name on the command line proves nothing and is refused.
 */
import { Option, type Command } from 'commander';
import { isLoopback } from '../../authoring/index.js';
import { isStoreUrl } from '../../store/place.js';
import type { Cli, CommonOptions } from '../command.js';
import { deskHere, proofWanted } from './desk.js';
import { deskApi, type DeskApi } from './desk-api.js';
import { TENANT } from './run-record.js';
import type { Session } from '../session.js';
import { collect, usage } from '../usage.js';

export interface DeskOptions extends CommonOptions {
  readonly desk?: string;
}

/** Of commands that read; everything else is said in the tenant of whoever says it. */
export interface TenantOptions {
  readonly tenant?: string;
}

export interface ActorOptions extends DeskOptions {
  readonly as?: string;
  /** The earlier name of `--as`. */
  readonly by?: string;
  readonly role?: readonly string[];
}

export interface Named {
  readonly by: string;
  readonly roles?: readonly string[];
}

export type Actor =
  | { readonly kind: 'desk'; readonly api: DeskApi }
  | { readonly kind: 'named'; readonly named: Named };

const DESK_URL = 'http://127.0.0.1:8585';
const LOCAL_TOKEN = /^hf_local_/;
const NAME_CHARS_MAX = 200;

export function withActor(command: Command, what: string): Command {
  return withDesk(command)
    .option('--as <name>', `${what}; in local development only`)
    .addOption(new Option('--by <name>').hideHelp())
    .option('--role <role>', 'with --as: a role of theirs; repeatable', collect);
}

export function withDesk(command: Command): Command {
  return command.option(
    '--desk <url>',
    `the approval desk (HOLDFAST_DESK_URL; default ${DESK_URL}), used with HOLDFAST_TOKEN, which says who you are`,
  );
}

/** For commands that read. */
export function withTenant(command: Command): Command {
  return command.option(
    '--tenant <name>',
    `of this tenant (default ${TENANT}); a token says its own`,
  );
}

export function tenantOf({ tenant = TENANT }: TenantOptions): string {
  if (tenant !== '' && tenant.length <= NAME_CHARS_MAX && !/\p{C}/u.test(tenant)) return tenant;
  throw usage(`--tenant is a name of 1 to ${NAME_CHARS_MAX} readable characters.`);
}

/** The desk, for whoever has a token; undefined: nobody has said who they are. */
export function deskOf(cli: Cli, options: ActorOptions): DeskApi | undefined {
  return deskFor(cli, options, {});
}

/** The same for commands that read. */
export function readingDeskOf(
  cli: Cli,
  options: ActorOptions & TenantOptions,
): DeskApi | undefined {
  return deskFor(cli, options, options);
}

function deskFor(
  { environment }: Cli,
  options: ActorOptions,
  { tenant: named }: TenantOptions,
): DeskApi | undefined {
  const { HOLDFAST_TOKEN: token = '', HOLDFAST_DESK_URL: place = '' } = environment.variables;
  if (token === '') {
    if (options.desk === undefined) return undefined;
    throw usage('--desk needs a token: set HOLDFAST_TOKEN to yours.');
  }
  const roles = rolesOf(options);
  const as = nameOf(options);
  const tenant = named === undefined ? undefined : tenantOf({ tenant: named });
  if (tenant !== undefined && !LOCAL_TOKEN.test(token)) {
    throw usage('--tenant is not for you to say: your token names your tenant.', 'Leave it out.');
  }
  if ((as !== undefined || roles !== undefined) && !LOCAL_TOKEN.test(token)) {
    throw usage(
      '--as and --role work in local development only: your token says who you are.',
      'Leave them out.',
    );
  }
  const url = options.desk ?? (place === '' ? DESK_URL : place);
  const whom = { ...(as !== undefined && { as }), ...(roles && { roles }) };
  return deskApi({ url, token, ...whom, ...(tenant !== undefined && { tenant }) });
}

/** Errors: Usage when nobody is named, or a name proves nothing here; InvalidConfig. */
export async function actorOf(
  cli: Cli,
  session: Session,
  options: ActorOptions & TenantOptions,
): Promise<Actor> {
  const api = readingDeskOf(cli, options);
  if (api !== undefined) return { kind: 'desk', api };
  const by = nameOf(options);
  const roles = rolesOf(options);
  if (by === undefined) {
    throw usage(
      'The command does not say who acts.',
      'Set HOLDFAST_TOKEN to your token of the approval desk; in local development give --as NAME.',
    );
  }
  const elsewhere = await notLocal(cli, session);
  if (elsewhere !== undefined) {
    throw usage(
      `--as works in local development only, and ${elsewhere}.`,
      'Set HOLDFAST_TOKEN to your token of the approval desk (--desk or HOLDFAST_DESK_URL).',
    );
  }
  return { kind: 'named', named: { by, ...(roles && { roles }) } };
}

export interface CommandHints {
  readonly login: 'name' | 'token';
  /** What has to be done before they work. */
  readonly first?: string;
}

/** The run that asks. */
export interface AskingRun {
  readonly runId: string;
  readonly tenant?: string;
  /** Of a sub-agent: from the root to it. Absent: the store may know. */
  readonly agents?: readonly string[];
}

/** How commands that answer a question of this run must look for whoever reads it. */
export type HintsOf = (asking: AskingRun) => Promise<CommandHints>;

export function commandHints(cli: Cli, session: Session): HintsOf {
  let looked: Promise<HintsOf> | undefined;
  return async (asking) => (await (looked ??= hintsHere(cli, session)))(asking);
}

async function hintsHere(cli: Cli, session: Session): Promise<HintsOf> {
  const { HOLDFAST_TOKEN: token = '' } = cli.environment.variables;
  if (token !== '') {
    const login = LOCAL_TOKEN.test(token) ? 'name' : 'token';
    return () => Promise.resolve({ login });
  }
  // A configuration that cannot be read keeps every decision from being made here.
  const elsewhere = await notLocal(cli, session).catch((error: Error) => error.message);
  if (elsewhere !== undefined) return () => Promise.resolve(byToken(elsewhere));
  const proof = await proofWanted(cli.environment, session.place).catch(() => undefined);
  return async (asking) => {
    const why = await proof?.(() => agentsOf(session, asking));
    return why === undefined ? { login: 'name' } : byToken(why);
  };
}

function byToken(why: string): CommandHints {
  return {
    login: 'token',
    first: `To decide, set HOLDFAST_TOKEN to your token of the approval desk: ${why}.`,
  };
}

/** Nobody may know them. */
async function agentsOf(
  session: Session,
  { runId, tenant = TENANT, agents }: AskingRun,
): Promise<readonly string[]> {
  if (agents !== undefined) return agents;
  const row = await session
    .store()
    .then((store) => store?.getRun(tenant, runId))
    .catch(() => undefined);
  return row === undefined ? [] : (row.agentPath ?? [row.agent]);
}

function nameOf({ as, by }: ActorOptions): string | undefined {
  const name = (as ?? by)?.trim();
  if (name === undefined) return undefined;
  if (name !== '' && name.length <= NAME_CHARS_MAX && !/\p{C}/u.test(name)) return name;
  throw usage(`--as is a name of 1 to ${NAME_CHARS_MAX} readable characters.`);
}

function rolesOf({ role: roles }: ActorOptions): readonly string[] | undefined {
  if (roles?.some((role) => /\p{C}/u.test(role)) !== true) return roles;
  throw usage('--role has readable characters only.');
}

/** What speaks against this being somebody's own machine, with nobody else to be told apart. */
async function notLocal({ environment }: Cli, { place, named }: Session) {
  const { isNamed, address } = await named();
  if (isNamed && !isLoopback(address.replace(/:\d+$/, ''))) {
    return 'the Temporal server is not on this machine';
  }
  const { storePlace } = place;
  if (isStoreUrl(storePlace) && !isLocalUrl(storePlace)) return 'the store is not on this machine';
  return deskHere(environment, place);
}

/** By where the connection goes: a `host` among the parameters wins over the one of the address. */
function isLocalUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.getAll('host').at(-1) || hostname;
  return [host, ...searchParams.getAll('hostaddr')].every(isHere);
}

/** An absolute path is a socket's folder. */
function isHere(host: string): boolean {
  return host === '' || host.startsWith('/') || isLoopback(host);
}
