/**
 * The client of the protocol's conformance suite: `tsx lab/conformance/client.ts URL`. The runner of the suite sets the name of the
 * scenario and its context in the environment. What answers is what runs use: connectors of a configuration.
 */
import { defineAgent, defineConfig } from '../../authoring/index.js';
import type { HttpConnectorDefinition } from '../../authoring/connectors.js';
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
import type { Json } from '../../core/json/json.js';
import { argumentsOf, sampleOf } from './samples.js';

const LIMIT_MS = 25_000;
const ROUNDS_MAX = 5;
const NAME = 'server';

interface Context {
  /** Of a client that the scenario's authorization server knows. */
  readonly client_id?: string;
  readonly client_secret?: string;
  /** Calls that the scenario asks for by name. */
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Json }[];
}

async function main(url: string): Promise<void> {
  const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
  const config = defineConfig({
    agents: [
      defineAgent({ name: 'client', model: 'scripted/m', instructions: 'Call.', mcp: [NAME] }),
    ],
    mcp: { [NAME]: { ...definition(url), ...(await authOf(url, context)) } },
  });
  const connectors = createConnectors(config);
  try {
    const connector = config.connectors.get(NAME);
    if (connector === undefined) throw new Error('The configuration has no connector.');
    const { definitions } = await connectors.list(NAME, AbortSignal.timeout(LIMIT_MS));
    const usable = definitions.filter((one) => definitionProblem(one) === undefined);
    const calls =
      context.toolCalls ??
      usable.map((one) => ({ name: one.name, arguments: argumentsOf(one, definitions) }));
    const ends = await Promise.allSettled(
      calls.map(async ({ name, arguments: input }) => {
        const found = usable.find((one) => one.name === name);
        const pinned = found && pinnedTool(connector, found);
        if (pinned === undefined) throw new Error(`The server offers no tool ${name}.`);
        return callTool(connectors, { pinned, input });
      }),
    );
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  } finally {
    await connectors.close();
  }
}

function definition(url: string): HttpConnectorDefinition {
  // A legacy server asks a person only of a read.
  return {
    url,
    trust: 'trusted',
    tools: { effects: { test_client_elicitation_defaults: 'read' } },
  };
}

/** The operator names the issuer: here it is looked up beforehand. */
async function authOf(
  url: string,
  context: Context,
): Promise<Pick<HttpConnectorDefinition, 'auth'>> {
  const { client_id: clientId, client_secret: secret } = context;
  const isMachine = process.env['MCP_CONFORMANCE_SCENARIO'] === 'auth/client-credentials-basic';
  if (!isMachine || clientId === undefined || secret === undefined) return {};
  process.env['CONFORMANCE_SECRET'] = secret;
  const { discoverOAuthServerInfo } = await import('@modelcontextprotocol/client');
  const { authorizationServerUrl: issuer } = await discoverOAuthServerInfo(url);
  const clientSecret = { env: 'CONFORMANCE_SECRET' };
  return { auth: { grant: 'client_credentials', clientId, clientSecret, issuer } };
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
    ...(exchange !== undefined && { exchange }),
  };
}

main(process.argv.at(-1) ?? '').catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
