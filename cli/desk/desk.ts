/** Running the approval desk in this process: store, client, key, console. */
import { existsSync, renameSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../../authoring/index.js';
import { createDeskKey, objectionToKey, readDeskKey, type DeskSigner } from '../../client/index.js';
import type { ConsoleOptions, KnownTool, Startable } from '../../console/index.js';
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import { runningServer } from '../../devserver/index.js';
import { openStoreAt, type Store } from '../../store/store.js';
import { ALL_TENANTS } from '../../store/desk-keys.js';
import { isStoreUrl } from '../../store/place.js';
import type { Environment } from '../../worker/config.js';
import { loadWhole } from '../../worker/load-whole.js';
import { decidersIn } from './deciders.js';
import { deskForks } from './desk-forks.js';
import { keptToken } from './kept-token.js';
import { providersFor } from './model-access.js';
import type { CliEnvironment } from '../environment.js';
import type { KnownReach } from '../session.js';
import type { Output } from '../terminal/output.js';
import { packageVersion } from '../version.js';

const KEY_FILE = 'desk-key.json';
/** Of `holdfast dev`: that somebody develops here makes this no host of a desk. */
const DEV_KEY_FILE = 'dev-desk-key.json';
const KEY_MAKER = 'holdfast dev';

export interface DeskPlace {
  readonly place: Environment;
  readonly reach: KnownReach;
  readonly config: Config;
  readonly port?: number;
  /** For development: a key is made and trusted when there is none, and the token stays the same. */
  readonly makeKey: boolean;
}

export interface RunningDesk {
  readonly url: string;
  /** The same with the token of a local developer. */
  readonly link: string;
  stop(): Promise<void>;
}

/** The file of the desk's key: HOLDFAST_DESK_KEY, else in the data folder. */
export function deskKeyFile({ variables, folder }: CliEnvironment, home: string): string {
  const named = variables.HOLDFAST_DESK_KEY;
  return named === undefined || named === '' ? join(home, KEY_FILE) : resolve(folder, named);
}

/** The same while developing: where the desk has no key of its own and none is named, that of `holdfast dev`. */
export function signingKeyFile(environment: CliEnvironment, home: string): string {
  const file = deskKeyFile(environment, home);
  return isKeyNamed(environment) || existsSync(file) ? file : devKeyFile(home);
}

export function devKeyFile(home: string): string {
  return join(home, DEV_KEY_FILE);
}

function isKeyNamed({ variables }: CliEnvironment): boolean {
  return (variables.HOLDFAST_DESK_KEY ?? '') !== '';
}

/** Why this machine is the host of a desk, where people are told apart; undefined: it is none. */
export async function deskHere(
  environment: CliEnvironment,
  { home, storePlace, configFile }: Environment,
): Promise<string | undefined> {
  if (isKeyNamed(environment)) {
    return 'this machine holds the key of a desk (HOLDFAST_DESK_KEY)';
  }
  // With another --home the store, and what lies beside it, is still the same.
  const folders = isStoreUrl(storePlace) ? [home] : [home, dirname(storePlace)];
  const key = folders.map((one) => join(one, KEY_FILE)).find((file) => existsSync(file));
  if (key !== undefined) return `this machine holds the key of a desk (${key})`;
  return loginHere(environment, configFile);
}

/** Why a name at the terminal, which signs nothing, does not count for a run of these agents; undefined: it may. */
type ProofWanted = (agentsOf: () => Promise<readonly string[]>) => Promise<string | undefined>;

/** The agents are asked for only where some want proof and others do not. Errors: InvalidConfig. */
export async function proofWanted(
  { folder }: CliEnvironment,
  { configFile }: Environment,
): Promise<ProofWanted> {
  const { findConfig, loadConfig } = await import('../../worker/load-config.js');
  const file = configFile ?? findConfig(folder);
  if (file === undefined) return () => Promise.resolve(undefined);
  const { defaults, agents } = await loadConfig({ folder, file });
  const usual = defaults.settings.requireProof;
  const wanting = [...agents.values()]
    .filter(({ settings }) => settings.requireProof ?? usual)
    .map(({ name }) => name);
  const why = (where: string): string =>
    `decisions ${where} count with a signature of the desk (requireProof in ${basename(file)})`;
  if (wanting.length === agents.size) return () => Promise.resolve(why('here'));
  return async (agentsOf) => {
    const [agent] = wanting.length === 0 ? [] : inBoth(await agentsOf(), wanting);
    return agent && why(`on runs of the agent ${agent}`);
  };
}

function inBoth(some: readonly string[], others: readonly string[]): readonly string[] {
  return some.filter((one) => others.includes(one));
}

/** The configuration's ways to log in, as a reason. Errors: InvalidConfig: one that cannot be read may have some. */
async function loginHere({ folder }: CliEnvironment, named: string | undefined) {
  const { findConfig, loadConfig } = await import('../../worker/load-config.js');
  const file = named ?? findConfig(folder);
  if (file === undefined) return undefined;
  const { jwt, serviceTokens } = (await loadConfig({ folder, file })).console;
  if (jwt === undefined && serviceTokens === undefined) return undefined;
  const way = jwt === undefined ? 'console.serviceTokens' : 'console.jwt';
  return `people log in at the desk here (${way} in ${basename(file)})`;
}

/** Errors: InvalidConfig, PortTaken, ServerUnavailable, StoreUnavailable. */
export async function startDesk(
  environment: CliEnvironment,
  desk: DeskPlace,
  output: Output,
): Promise<RunningDesk> {
  const { startConsole, CONSOLE_MODULE } = await import('../../console/index.js');
  await loadWhole(CONSOLE_MODULE);
  const opened = await openDesk(environment, desk, output);
  try {
    const running = await startConsole(opened.options);
    const login = running.token === undefined ? '' : `/#token=${running.token}`;
    output.data({ console: running.url, token: running.token ?? null });
    output.line(`Approval desk    ${running.url}${login}`);
    return {
      url: running.url,
      link: `${running.url}${login}`,
      async stop() {
        await running.stop();
        await opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

export interface OpenDesk {
  readonly options: ConsoleOptions;
  /** Store and client. */
  close(): Promise<void>;
}

/** Everything that a desk works with, before it listens. Errors: InvalidConfig, ServerUnavailable, StoreUnavailable. */
export async function openDesk(
  environment: CliEnvironment,
  desk: DeskPlace,
  output: Output,
): Promise<OpenDesk> {
  const { place, reach, config } = desk;
  const { connect } = await import('../../client/index.js');
  const store = await openStoreAt(place.storePlace, place.storeSync);
  try {
    const signer = await signerFor(environment, { ...desk, store }, output);
    const { taskQueue } = place;
    const signing = signer !== undefined && { signer };
    const say = (line: string): void => output.remark(line);
    const temporalUi = await temporalUiOf(desk);
    const client = await connect({ ...reach, taskQueue, store, ...signing, say });
    const options: ConsoleOptions = {
      client,
      store,
      settings: settingsOf(environment, desk),
      version: packageVersion(),
      ...signing,
      localRoles: decidersIn(config),
      ...(desk.makeKey && { localToken: keptToken(place.home) }),
      deciders: decidersIn(config),
      tools: toolsIn(config),
      startable: startableIn(config),
      forks: deskForks({
        client,
        reach,
        store,
        config,
        providers: () => providersFor({ environment }, config),
      }),
      ...(config.connectors.size > 0 && { connectors: await connectorsIn(config, store) }),
      ...(temporalUi !== undefined && { temporalUi }),
      secret: place.secret,
      say,
    };
    return {
      options,
      async close() {
        await client.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Agents with what their own budget, else the defaults, allow a run; goals as they are defined. */
function startableIn({ agents, goals, defaults }: Config): Startable {
  const usual = defaults.budget.maxCostMicroUsd ?? DEFAULT_BUDGET.maxCostMicroUsd;
  return {
    agents: [...agents.values()].map(({ name, budget }) => ({
      name,
      maxCostMicroUsd: budget.maxCostMicroUsd ?? usual,
    })),
    goals: [...goals.values()].map(({ name, definition }) => ({ name, definition })),
  };
}

/** Shorter than the page waits for an answer. */
const LOOK_LIMIT_MS = 12_000;

async function connectorsIn(
  config: Config,
  store: Store,
): Promise<NonNullable<ConsoleOptions['connectors']>> {
  const { survey } = await import('../../connectors/survey.js');
  const { deskLogins } = await import('../../connectors/desk-logins.js');
  return {
    logins: deskLogins({ connectors: config.connectors, store, clock: Date.now }),
    names: [...config.connectors.keys()],
    look: (tenant, connector) =>
      survey({ config, store, tenant, connector, limitMs: LOOK_LIMIT_MS }),
  };
}

function settingsOf({ folder }: CliEnvironment, { config, port }: DeskPlace): Config['console'] {
  const { serviceTokens } = config.console;
  return {
    ...config.console,
    ...(serviceTokens !== undefined && { serviceTokens: resolve(folder, serviceTokens) }),
    ...(port !== undefined && { port }),
  };
}

async function signerFor(
  environment: CliEnvironment,
  { place, makeKey, store }: DeskPlace & { readonly store: Store },
  output: Output,
): Promise<DeskSigner | undefined> {
  const keyFile = makeKey ? signingKeyFile : deskKeyFile;
  const file = keyFile(environment, place.home);
  if (!existsSync(file)) {
    if (!makeKey) {
      output.remark(
        'The desk has no key: decisions are not signed. Make one with `holdfast keys create`.',
      );
      return undefined;
    }
    return trustedNewKey(file, store);
  }
  const signer = await readDeskKey(file);
  const objection = await objectionToKey(store, ALL_TENANTS, signer.key);
  if (objection?.reason === 'key_revoked' && makeKey && file === devKeyFile(place.home)) {
    renameSync(file, `${file}.${signer.key.kid}`);
    output.remark(`The key ${signer.key.kid} was revoked: this desk has a new one.`);
    return trustedNewKey(file, store);
  }
  if (objection !== undefined) {
    output.remark(`Decisions at this desk may not count: ${objection.message}. ${objection.hint}`);
  }
  return signer;
}

async function trustedNewKey(file: string, store: Store): Promise<DeskSigner> {
  const made = await createDeskKey(file);
  const { kid, key } = made.key;
  await store.addDeskKey({ tenant: ALL_TENANTS, kid, key, at: Date.now(), by: KEY_MAKER });
  return made;
}

/** The configured one, else that of the embedded server. */
async function temporalUiOf({ place, reach, config }: DeskPlace): Promise<string | undefined> {
  if (config.console.temporalUi !== undefined) return config.console.temporalUi;
  const running = await runningServer(place.home);
  return running?.address === reach.address ? running.uiUrl : undefined;
}

/** Words to people, and what the vendor does by itself: nobody approves them, or wants them instead. */
const NO_ACTIONS: ReadonlySet<string> = new Set(['human_input', 'handoff', 'hosted']);

function toolsIn(config: Config): readonly KnownTool[] {
  const actions = [...config.tools.values()].filter(({ record }) => !NO_ACTIONS.has(record.kind));
  return actions.map(({ record, description, inputSchema }) => {
    const { name, version, effect } = record;
    return { name, version, effect, description, inputSchema };
  });
}
