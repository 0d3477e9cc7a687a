/**
 * The client of the protocol's conformance suite: `tsx lab/conformance/client.ts URL`. The runner of the suite sets the name of the
 * scenario and its context in the environment. What answers is what runs use: connectors of a configuration.
 */
import { randomBytes } from 'node:crypto';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import type { ClientProof, JwtBearer, SecretPlace } from '../../authoring/connector-auth.js';
import type { Connector, HttpConnectorDefinition } from '../../authoring/connectors.js';
import {
  createConnectors,
  definitionProblem,
  isInputRequired,
  pinnedTool,
  takeAnswer,
  type Connectors,
  type Exchange,
  type ServerDefinition,
} from '../../connectors/index.js';
import {
  endLogin,
  KEYS_VARIABLE,
  openLogin,
  type LoginAnswer,
  type LoginPlace,
} from '../../connectors/logins.js';
import type { Json } from '../../core/json/json.js';
import { openStore } from '../../store/store.js';
import { argumentsOf, sampleOf } from './samples.js';

const LIMIT_MS = 25_000;
const ROUNDS_MAX = 5;
const LOGINS_MAX = 3;
const NAME = 'server';
const DEFAULTS_SCENARIO = 'elicitation-sep1034-client-defaults';
const REDIRECT_URL = 'http://127.0.0.1:3917/callback';
/** The suite expects this one. */
const CLIENT_METADATA_URL = 'https://conformance-test.local/client-metadata.json';

interface Context {
  /** Of a client that the scenario's authorization server knows. */
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  /** Of a workload. */
  readonly valid_jwt?: string;
  /** Of an identity provider and a person who has logged in there. */
  readonly idp_client_id?: string;
  readonly idp_token_endpoint?: string;
  readonly idp_id_token?: string;
  /** Calls that the scenario asks for by name. */
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Json }[];
}

async function main(url: string): Promise<void> {
  const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
  process.env[KEYS_VARIABLE] = `k1:${randomBytes(32).toString('base64')}`;
  const config = defineConfig({
    agents: [
      defineAgent({ name: 'client', model: 'scripted/m', instructions: 'Call.', mcp: [NAME] }),
    ],
    mcp: { [NAME]: { ...definition(url), ...(await authOf(url, context)) } },
  });
  const connector = config.connectors.get(NAME);
  if (connector === undefined) throw new Error('The configuration has no connector.');
  const store = await openStore({ file: ':memory:' });
  const connectors = createConnectors({ ...config, tokens: store });
  const operator = { connector, tenant: 'default', store, clock: Date.now };
  const session: Session = { connectors, connector, operator, logins: 0 };
  try {
    await play(session, context);
  } finally {
    await connectors.close();
    await store.close();
  }
}

interface Session {
  readonly connectors: Connectors;
  readonly connector: Connector;
  readonly operator: LoginPlace;
  logins: number;
}

async function play(session: Session, { toolCalls }: Context): Promise<void> {
  const { connectors, connector } = session;
  const list = () => connectors.list(NAME, AbortSignal.timeout(LIMIT_MS));
  const { definitions } = await loggedIn(session, list);
  const usable = definitions.filter((one) => definitionProblem(one) === undefined);
  const calls =
    toolCalls ??
    usable.map((one) => ({ name: one.name, arguments: argumentsOf(one, definitions) }));
  const ends = await Promise.allSettled(
    calls.map(async ({ name, arguments: input }) => {
      const found = usable.find((one) => one.name === name);
      const pinned = found && pinnedTool(connector, found);
      if (pinned === undefined) throw new Error(`The server offers no tool ${name}.`);
      return loggedIn(session, () => callTool(connectors, { pinned, input }));
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** With an operator who logs in when the connector needs a login, a few times. */
async function loggedIn<T>(session: Session, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isWanted = error instanceof Error && error.message.includes('needs a login');
      if (!isWanted || session.logins >= LOGINS_MAX) throw error;
      session.logins += 1;
      await logIn(session.operator);
    }
  }
}

/** The suite's authorization servers send everybody back at once. */
async function logIn(operator: LoginPlace): Promise<void> {
  const { address, pending } = await openLogin(operator, REDIRECT_URL);
  const { headers } = await fetch(address, { redirect: 'manual' });
  const { searchParams } = new URL(headers.get('location') ?? '', REDIRECT_URL);
  const answer = Object.fromEntries(searchParams) as LoginAnswer;
  await endLogin(operator, pending, { answer, by: 'operator' });
}

function definition(url: string): HttpConnectorDefinition {
  const isAboutDefaults = scenarioName() === DEFAULTS_SCENARIO;
  return { url, trust: 'trusted', ...(isAboutDefaults && { elicitation: 'defaults' }) };
}

function scenarioName(): string {
  return process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
}

/** As an operator would configure it. */
async function authOf(
  url: string,
  context: Context,
): Promise<Pick<HttpConnectorDefinition, 'auth'>> {
  const scenario = scenarioName();
  if (!scenario.startsWith('auth/')) return {};
  const dpop = scenario.startsWith('auth/dpop');
  const { client_id: clientId } = context;
  const proof = proofOf(context);
  if (clientId === undefined || (Object.keys(proof).length === 0 && !context.valid_jwt)) {
    const clientMetadataUrl = CLIENT_METADATA_URL;
    return { auth: { grant: 'authorization_code', clientMetadataUrl, dpop } };
  }
  // The operator names the issuer: here it is looked up beforehand.
  const { discoverOAuthServerInfo } = await import('@modelcontextprotocol/client');
  const { authorizationServerUrl: issuer } = await discoverOAuthServerInfo(url);
  const client = { clientId, ...proof, issuer };
  const bearer = bearerOf(context);
  if (bearer !== undefined) return { auth: { grant: 'jwt_bearer', ...client, ...bearer } };
  return scenario.startsWith('auth/client-credentials')
    ? { auth: { grant: 'client_credentials', ...client } }
    : { auth: { grant: 'authorization_code', ...client } };
}

function proofOf({ client_secret: secret, private_key_pem: pem }: Context): ClientProof {
  return {
    ...(secret !== undefined && { clientSecret: placeOf('CONFORMANCE_SECRET', secret) }),
    ...(pem !== undefined && { privateKey: placeOf('CONFORMANCE_KEY', pem) }),
  };
}

function bearerOf(context: Context): Pick<JwtBearer, 'assertion' | 'identity'> | undefined {
  const { valid_jwt: assertion, idp_id_token: idToken } = context;
  if (assertion !== undefined) return { assertion: placeOf('CONFORMANCE_ASSERTION', assertion) };
  const { idp_client_id: clientId, idp_token_endpoint: tokenEndpoint } = context;
  if (idToken === undefined || clientId === undefined || tokenEndpoint === undefined) {
    return undefined;
  }
  return {
    identity: { tokenEndpoint, clientId, idToken: placeOf('CONFORMANCE_ID_TOKEN', idToken) },
  };
}

function placeOf(env: string, value: string): SecretPlace {
  process.env[env] = value;
  return { env };
}

interface Called {
  readonly pinned: { readonly definition: ServerDefinition };
  readonly input: Json;
}

/**
 * With what a person would answer, until the server asks no more. A run would first hold the arguments against their schema; some that
 * scenarios ask for do not fit.
 */
async function callTool(connectors: Connectors, { pinned, input }: Called): Promise<void> {
  const tool = await connectors.tool(pinned as Parameters<Connectors['tool']>[0], 'default');
  let exchange: Exchange | undefined;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    try {
      await tool.run(input, contextOf(exchange));
      return;
    } catch (error) {
      if (!isInputRequired(error)) throw error;
      exchange = await answered(error.exchange);
    }
  }
  throw new Error(`${tool.record.name} asked more than ${ROUNDS_MAX} times.`);
}

async function answered(asked: Exchange): Promise<Exchange> {
  let exchange = asked;
  for (const { request } of asked.requests) {
    const words = request.mode === 'url' ? 'accept' : sampleOf(request.schema);
    const taken = await takeAnswer(exchange, words);
    if (!taken.ok) throw new Error(`The answer does not fit: ${taken.problem}`);
    exchange = taken.exchange;
  }
  return exchange;
}

function contextOf(exchange: Exchange | undefined) {
  return {
    runId: 'run_1',
    tenant: 'default',
    callId: 'call_1',
    idempotencyKey: 'key_1',
    attempt: 1,
    traceId: 'trace_1',
    signal: AbortSignal.timeout(LIMIT_MS),
    cost: () => undefined,
    sandbox: undefined as never,
    wantsProof: () => Promise.resolve(false),
    ...(exchange !== undefined && { exchange }),
  };
}

main(process.argv.at(-1) ?? '').catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
