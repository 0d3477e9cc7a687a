/** `holdfast mcp login` and `logout`: an operator's login of a connector. */
import type { Command } from 'commander';
import type { LoggedIn } from '../../connectors/logins.js';
import { HoldfastError } from '../../core/state/errors.js';
import { openStoreAt } from '../../store/store.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import { loginsAtDesk } from '../connectors/at-desk.js';
import { openBrowser } from '../connectors/browser.js';
import { knownConnector, loginsHere, type Logins } from '../connectors/logins-here.js';
import { openLoopback, type Loopback } from '../connectors/loopback.js';
import {
  actorOf,
  tenantOf,
  withActor,
  withTenant,
  type ActorOptions,
  type TenantOptions,
} from '../desk/actor.js';
import { EXIT } from '../exit-code.js';
import { inert } from '../render/index.js';
import { readConfig } from '../serve.js';
import type { Session } from '../session.js';
import { parseDuration } from '../terminal/duration.js';
import { onInterrupt, type Interrupt } from '../terminal/interrupt.js';
import type { Output } from '../terminal/output.js';
import { usage, wholeNumber } from '../usage.js';

type LoginOptions = ActorOptions & TenantOptions;

interface BeginOptions extends LoginOptions {
  readonly port?: number;
  readonly open?: boolean;
  readonly timeout?: string;
}

const TIMEOUT = '5m';
const TIMEOUT_MS_MAX = 3_600_000;
const SHAPE =
  'two lines {address, issuer, redirectUrl, expiresAt} and {connector, issuer, scope, until, renews}';

export function addLogin(mcp: Command, cli: Cli): void {
  const login = mcp
    .command('login <connector>')
    .description(
      'Log a connector in, in the store or over the desk: prints the address of its authorization server, and waits until the browser comes back to this machine.',
    )
    .option('--open', 'open the address in a browser')
    .option(
      '--port <number>',
      'port that the browser comes back to (default: a free one)',
      (text) => wholeNumber('A port', [0, 65_535])(text),
    )
    .option('--timeout <duration>', 'how long to wait for the person: 90s, 10m', TIMEOUT);
  withJson(withPlace(withTenant(withActor(login, 'who logs in'))), SHAPE)
    .addHelpText(
      'after',
      examples('holdfast mcp login crm --as mia', 'holdfast mcp login crm --as mia --open'),
    )
    .action((connector: string, options: BeginOptions) => {
      const interrupt = onInterrupt();
      return runCommand(cli, options, (session, output) =>
        withLogins(cli, { session, options, connector }, (logins) =>
          logIn({ logins, output, options, interrupt }),
        ),
      ).finally(() => interrupt.release());
    });
  const logoutCommand = mcp
    .command('logout <connector>')
    .description('Forget the login of a connector, and have its server take the tokens back.');
  withJson(
    withPlace(withTenant(withActor(logoutCommand, 'who logs out'))),
    '{connector, was, revoked}',
  )
    .addHelpText('after', examples('holdfast mcp logout crm --as mia'))
    .action((connector: string, options: LoginOptions) =>
      runCommand(cli, options, (session, output) =>
        withLogins(cli, { session, options, connector }, (logins) => logOut(logins, output)),
      ),
    );
}

interface Wanted {
  readonly session: Session;
  readonly options: LoginOptions;
  readonly connector: string;
}

/** Over the desk for whoever has a token of it, else in the store. */
async function withLogins<T>(
  cli: Cli,
  { session, options, connector: name }: Wanted,
  work: (logins: Logins) => Promise<T>,
): Promise<T> {
  const actor = await actorOf(cli, session, options);
  if (actor.kind === 'desk') return work(loginsAtDesk(actor.api, name));
  const config = await readConfig(session.place, cli.environment.folder);
  const connector = knownConnector(config.connectors, name);
  const { storePlace, storeSync } = session.place;
  // A project may have its first login before its first worker.
  const found = await session.wholeStore();
  const store = found ?? (await openStoreAt(storePlace, storeSync));
  try {
    const place = { connector, tenant: tenantOf(options), store, clock: Date.now };
    return await work(loginsHere(place, actor.named.by));
  } finally {
    if (found === undefined) await store.close();
  }
}

interface LoggingIn {
  readonly logins: Logins;
  readonly output: Output;
  readonly options: BeginOptions;
  readonly interrupt: Interrupt;
}

async function logIn(asked: LoggingIn): Promise<number> {
  const { logins, output, options, interrupt } = asked;
  const timeoutMs = timeoutOf(options, logins);
  const loopback = await openLoopback(options.port ?? 0);
  try {
    tellIn(await answered(asked, { loopback, timeoutMs }), output);
    return EXIT.completed;
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    output.remark('The login was not made.');
    return EXIT.interrupted;
  } finally {
    await loopback.close();
  }
}

interface Waiting {
  readonly loopback: Loopback;
  readonly timeoutMs: number;
}

async function answered(
  { logins, output, options, interrupt }: LoggingIn,
  { loopback, timeoutMs }: Waiting,
): Promise<LoggedIn> {
  const { redirectUrl } = loopback;
  const begun = await logins.begin(redirectUrl);
  const { address, issuer } = begun;
  const expiresAt = Date.now() + timeoutMs;
  output.data({ address, issuer, redirectUrl, expiresAt });
  output.line(`Log in at ${inert(issuer, 2_000)}:`);
  output.line(inert(address, address.length));
  if (options.open === true && !(await openBrowser(address)))
    output.remark('No browser can be opened here: visit the address.');
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([interrupt.signal, timeout]);
  const { answer, reply } = await loopback.answer(begun.isOwn, signal).catch((error: unknown) => {
    throw timeout.aborted && !interrupt.signal.aborted
      ? nobodyCame(logins.connector, options.timeout ?? TIMEOUT)
      : error;
  });
  const { connector: name } = logins;
  try {
    const loggedIn = await begun.end(answer);
    reply(`Holdfast has logged in the connector ${name}. This window may be closed.`);
    return loggedIn;
  } catch (error) {
    reply(`The login of the connector ${name} did not succeed. The terminal says why.`);
    throw error;
  }
}

function nobodyCame(connector: string, timeout: string): HoldfastError {
  return new HoldfastError(
    'AuthError',
    `The connector ${connector} waited ${timeout} for a login, and nobody came.`,
    {
      hint: `Begin again, with a longer --timeout if need be. When the authorization server says that it does not know the program, run \`holdfast mcp logout ${connector}\` first.`,
    },
  );
}

function timeoutOf({ timeout = TIMEOUT }: BeginOptions, { longest }: Logins): number {
  const ms = parseDuration(timeout);
  const most = longest === undefined ? TIMEOUT_MS_MAX : (parseDuration(longest) ?? 0);
  if (ms !== undefined && ms > 0 && ms <= most) return ms;
  throw usage(`--timeout is a duration up to ${longest ?? '1h'}: 90s, 10m.`);
}

function tellIn(loggedIn: LoggedIn, output: Output): void {
  const { connector, scope, until, renews } = loggedIn;
  output.data(loggedIn);
  const scopes = scope === undefined ? '' : ` with the scopes ${inert(scope)}`;
  output.line(`The connector ${connector} is logged in${scopes}.`);
  if (!renews && until !== undefined) {
    output.remark(
      `The token ends at ${new Date(until).toISOString()}, and the next one needs another login.`,
    );
  }
}

async function logOut(logins: Logins, output: Output): Promise<void> {
  const { connector: name } = logins;
  const { was, revoked } = await logins.logout();
  output.data({ connector: name, was, revoked: revoked ?? null });
  output.line(was ? `The connector ${name} is logged out.` : `The connector ${name} had no login.`);
  if (!was || revoked === true) return;
  output.remark(
    revoked === undefined
      ? 'The authorization server takes no tokens back: they end by themselves.'
      : 'The authorization server did not take the tokens back: they end by themselves.',
  );
}
