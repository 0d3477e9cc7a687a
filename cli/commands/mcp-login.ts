/** `holdfast mcp login` and `logout`: an operator's login of a connector. */
import type { Command } from 'commander';
import type { Connector } from '../../authoring/connectors.js';
import type { LoggedIn, LoginAnswer, OperatorPlace } from '../../connectors/logins.js';
import { HoldfastError } from '../../core/state/errors.js';
import { openStoreAt, type Store } from '../../store/store.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import { openBrowser } from '../connectors/browser.js';
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
      'Log a connector in: prints the address of its authorization server, and waits until the browser comes back to this machine.',
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
        withOperator(cli, { session, options, connector }, (place, by) =>
          logIn({ place, by, output, options, interrupt }),
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
        withOperator(cli, { session, options, connector }, (place, by) =>
          logOut({ place, by, output }),
        ),
      ),
    );
}

interface Place extends OperatorPlace {
  readonly store: Store;
}

interface Wanted {
  readonly session: Session;
  readonly options: LoginOptions;
  readonly connector: string;
}

async function withOperator<T>(
  cli: Cli,
  { session, options, connector: name }: Wanted,
  work: (place: Place, by: string) => Promise<T>,
): Promise<T> {
  const actor = await actorOf(cli, session, options);
  if (actor.kind === 'desk') {
    throw usage(
      'Connectors are logged in here where the store is, not with a token of the desk.',
      'Unset HOLDFAST_TOKEN and give --as NAME, or log in on the page of the desk.',
    );
  }
  const config = await readConfig(session.place, cli.environment.folder);
  const connector = known(config.connectors, name);
  const { storePlace } = session.place;
  // A project may have its first login before its first worker.
  const found = await session.wholeStore();
  const store = found ?? (await openStoreAt(storePlace));
  try {
    const place = { connector, tenant: tenantOf(options), store, clock: Date.now };
    return await work(place, actor.named.by);
  } finally {
    if (found === undefined) await store.close();
  }
}

function known(connectors: ReadonlyMap<string, Connector>, name: string): Connector {
  const connector = connectors.get(name);
  if (connector !== undefined) return connector;
  const names = [...connectors.keys()];
  throw new HoldfastError(
    'InvalidRequest',
    `The configuration has no connector ${JSON.stringify(name.slice(0, 60))}.`,
    {
      hint: names.length === 0 ? 'Declare it in `mcp`.' : `The connectors are ${names.join(', ')}.`,
    },
  );
}

interface LoggingIn {
  readonly place: Place;
  readonly by: string;
  readonly output: Output;
  readonly options: BeginOptions;
  readonly interrupt: Interrupt;
}

async function logIn(asked: LoggingIn): Promise<number> {
  const { output, options, interrupt } = asked;
  const timeoutMs = timeoutOf(options);
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
  { place, by, output, options, interrupt }: LoggingIn,
  { loopback, timeoutMs }: Waiting,
): Promise<LoggedIn> {
  const { endLogin, isAnswerOf, openLogin } = await import('../../connectors/logins.js');
  const { redirectUrl } = loopback;
  const { address, issuer, pending } = await openLogin(place, redirectUrl);
  const expiresAt = Date.now() + timeoutMs;
  output.data({ address, issuer, redirectUrl, expiresAt });
  output.line(`Log in at ${inert(issuer, 2_000)}:`);
  output.line(inert(address, address.length));
  if (options.open === true && !(await openBrowser(address)))
    output.remark('No browser can be opened here: visit the address.');
  const isOwn = (answer: LoginAnswer): boolean => isAnswerOf(pending, answer);
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([interrupt.signal, timeout]);
  const { answer, reply } = await loopback.answer(isOwn, signal).catch((error: unknown) => {
    throw timeout.aborted && !interrupt.signal.aborted ? nobodyCame(place, options) : error;
  });
  const { name } = place.connector;
  try {
    const loggedIn = await endLogin(place, pending, { answer, by });
    reply(`Holdfast has logged in the connector ${name}. This window may be closed.`);
    return loggedIn;
  } catch (error) {
    reply(`The login of the connector ${name} did not succeed. The terminal says why.`);
    throw error;
  }
}

function nobodyCame({ connector }: Place, { timeout = TIMEOUT }: BeginOptions): HoldfastError {
  return new HoldfastError(
    'AuthError',
    `The connector ${connector.name} waited ${timeout} for a login, and nobody came.`,
    {
      hint: `Begin again, with a longer --timeout if need be. When the authorization server says that it does not know the program, run \`holdfast mcp logout ${connector.name}\` first.`,
    },
  );
}

function timeoutOf({ timeout = TIMEOUT }: BeginOptions): number {
  const ms = parseDuration(timeout);
  if (ms !== undefined && ms > 0 && ms <= TIMEOUT_MS_MAX) return ms;
  throw usage('--timeout is a duration up to 1h: 90s, 10m.');
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

interface LoggingOut {
  readonly place: Place;
  readonly by: string;
  readonly output: Output;
}

async function logOut({ place, by, output }: LoggingOut): Promise<void> {
  const { logout } = await import('../../connectors/logins.js');
  const { name } = place.connector;
  const { was, revoked } = await logout(place, by);
  output.data({ connector: name, was, revoked: revoked ?? null });
  output.line(was ? `The connector ${name} is logged out.` : `The connector ${name} had no login.`);
  if (!was || revoked === true) return;
  output.remark(
    revoked === undefined
      ? 'The authorization server takes no tokens back: they end by themselves.'
      : 'The authorization server did not take the tokens back: they end by themselves.',
  );
}
