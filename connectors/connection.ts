/**
 * One connection to a server, used by one call at a time, so that what the server asks or says meanwhile is about that call.
 * Invariants: the tool that is called is looked at before, and is called only as it was pinned; what a server says beside its
 * results is bounded; nothing is sent twice.
 */
import type { Connector } from '../authoring/connectors.js';
import { ToolError, UNAVAILABLE } from '../authoring/tool-error.js';
import { digestOf, type Json } from '../core/json/json.js';
import { redacted } from './call-result.js';
import {
  activeCall,
  noted,
  type Opening,
  type Parts,
  type ServerCall,
  type State,
} from './connection-parts.js';
import { definitionHash, definitionOf, type ServerDefinition } from './definition.js';
import { assumeComplete } from './default-type.js';
import { personRequest, REQUESTS_MAX } from './exchange.js';
import { NeedsLogin, unreachable, Unsent } from './fault.js';
import { loadSdk, type Sdk, type SdkClient } from './sdk.js';
import { legacyQuestion, sendCall } from './send-call.js';
import { openTransport } from './transport.js';

/** A list of tools counts for this long without another look; ms. */
const FRESH_MS = 10_000;
const TOOLS_MAX = 500;
/** Told of the call in which the server said so. */
const LIST_CHANGED = 'The server says that its list of tools has changed.';
const CLIENT = { name: 'holdfast', version: '1' } as const;

export interface ServerFacts {
  readonly era: 'modern' | 'legacy';
  /** `name@version`, as far as the server says so. */
  readonly server?: string;
}

export interface Connection extends ServerFacts {
  readonly closed: () => boolean;
  /** What the server lists now. */
  definitions(signal: AbortSignal): Promise<readonly ServerDefinition[]>;
  call(call: ServerCall): Promise<unknown>;
  close(): Promise<void>;
}

/** Errors: `ToolError` of code `tool_unavailable`. */
export async function openConnection(opening: Opening, signal: AbortSignal): Promise<Connection> {
  const { connector, secrets, authorization, transports = openTransport } = opening;
  const sdk = await loadSdk();
  const state: State = { closed: false, dirty: true, listedAt: 0, tools: [] };
  const client = new sdk.Client(CLIENT, {
    capabilities: { elicitation: { form: {}, url: {} } },
    versionNegotiation: negotiation(connector),
    inputRequired: { autoFulfill: false },
    listMaxPages: connector.maxPages,
  });
  listen(client, state);
  try {
    const transport = await transports(connector, {
      sdk,
      secrets,
      ...(authorization !== undefined && { authorization }),
    });
    await client.connect(transport, { signal, timeout: connector.connectTimeoutMs });
    if (client.getProtocolEra() === 'modern') assumeComplete(transport);
  } catch (error) {
    await client.close().catch(() => undefined);
    throw await notReached(opening, sdk, error);
  }
  return connectionOf(opening, { sdk, client, state });
}

/** No call was sent. */
async function notReached(
  { connector, secrets, authorization }: Opening,
  sdk: Sdk,
  error: unknown,
): Promise<Error> {
  if (error instanceof Unsent || error instanceof NeedsLogin) return error;
  const refused = await authorization?.refused?.(error, sdk);
  if (refused !== undefined) return refused;
  const why = secrets.hide(reasonOf(error));
  return unreachable(connector.name, why, secrets.hide(reasonsOf(error)));
}

function negotiation({ protocol, connectTimeoutMs: timeoutMs }: Connector) {
  const mode = protocol === 'modern' ? ({ pin: '2026-07-28' } as const) : protocol;
  return { mode, probe: { timeoutMs } };
}

function listen(client: SdkClient, state: State): void {
  client.onclose = () => {
    state.closed = true;
  };
  // What is wrong with a message fails the call that waits for it.
  client.onerror = () => undefined;
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    state.dirty = true;
    noted(state, LIST_CHANGED);
  });
  client.setNotificationHandler('notifications/message', ({ params }) => {
    noted(state, `${params.level}: ${textOf(params.data)}`);
  });
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const { active } = state;
    const key = digestOf(JSON.parse(JSON.stringify(params)) as Json);
    const known = active?.call.exchange?.responses ?? {};
    const response = Object.hasOwn(known, key) ? known[key] : undefined;
    if (response !== undefined) return { ...response } as { action: 'cancel' };
    const request = personRequest('elicitation/create', params);
    const own = typeof request === 'string' ? undefined : await active?.answers(request);
    if (own !== undefined) return { ...own } as { action: 'cancel' };
    // One more than is answered says enough: a server may ask without end.
    if (active !== undefined && active.asked.length <= REQUESTS_MAX)
      active.asked.push({ key, params });
    return { action: 'cancel' };
  });
}

function connectionOf(opening: Opening, parts: Parts): Connection {
  const { client, state } = parts;
  const { secrets } = opening;
  const version = client.getServerVersion();
  return {
    era: client.getProtocolEra() ?? 'legacy',
    ...(version !== undefined && {
      server: secrets.hide(`${version.name}@${version.version}`).slice(0, 100),
    }),
    closed: () => state.closed,
    definitions(signal) {
      state.dirty = true;
      return definitions(opening, parts, signal);
    },
    call: (call) => callOn(opening, parts, call),
    async close() {
      state.closed = true;
      await client.close().catch(() => undefined);
    },
  };
}

async function definitions(
  opening: Opening,
  { sdk, client, state }: Parts,
  signal: AbortSignal,
): Promise<readonly ServerDefinition[]> {
  const { connector, clock } = opening;
  if (!state.dirty && clock() - state.listedAt < FRESH_MS) return state.tools;
  try {
    state.dirty = false;
    const { tools } = await client.listTools(undefined, {
      signal,
      timeout: connector.connectTimeoutMs,
      maxTotalTimeout: connector.connectTimeoutMs,
      cacheMode: 'bypass',
    });
    if (tools.length > TOOLS_MAX) throw new Error(`it lists ${tools.length} tools`);
    state.tools = tools.map((tool) => toolOf(opening, tool));
    state.listedAt = clock();
    return state.tools;
  } catch (error) {
    state.closed = true;
    throw await notReached(opening, sdk, error);
  }
}

function toolOf(
  { secrets, authorization }: Opening,
  tool: Parameters<typeof definitionOf>[0],
): ServerDefinition {
  const definition = definitionOf(tool);
  if (authorization === undefined) return definition;
  return redacted(definition as unknown as Json, secrets) as unknown as ServerDefinition;
}

async function callOn(opening: Opening, parts: Parts, call: ServerCall): Promise<unknown> {
  const { connector } = opening;
  const { state } = parts;
  if (call.changes) state.dirty = true;
  requirePinned(connector.name, await definitions(opening, parts, call.signal), call);
  const active = activeCall(connector, call);
  state.active = active;
  try {
    const result = await sendCall(opening, parts, active);
    // Told `cancel`, the server has answered all the same: what a change has done is not done a second time.
    if (active.asked.length === 0 || call.changes) return result;
    throw legacyQuestion(opening, active);
  } finally {
    delete state.active;
  }
}

/** Whether the server has the tool as the run was told of it. */
function requirePinned(
  connector: string,
  tools: readonly ServerDefinition[],
  { tool, hash }: ServerCall,
): void {
  const now = tools.find(({ name }) => name === tool);
  if (now !== undefined && definitionHash(now) === hash) return;
  throw new ChangedTool(
    now === undefined
      ? `The server of ${connector} does not list ${tool} any more.`
      : `The server of ${connector} describes ${tool} otherwise (${definitionHash(now).slice(0, 12)}) than when the run began (${hash.slice(0, 12)}).`,
  );
}

/** Nothing happened: the tool is not the one that the run has. */
export class ChangedTool extends ToolError {
  constructor(message: string) {
    super(UNAVAILABLE, message);
  }
}

function textOf(data: unknown): string {
  return typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
}

/** With what caused it: fetch says only that it failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const because = cause instanceof Error ? ` (${cause.message})` : '';
  return `${error.message}${because}`;
}

const CAUSES_MAX = 5;
/** What the client asks first; an operator asked for the server's tools. */
const FIRST_REQUEST = /^Version negotiation probe failed: /;

/** Down to the address that refused, each reason once. */
function reasonsOf(error: unknown): string {
  const reasons: string[] = [];
  let cause: unknown = error;
  for (let depth = 0; depth < CAUSES_MAX && cause !== undefined; depth += 1) {
    // Of several addresses of one name none has answered.
    if (cause instanceof AggregateError && cause.message === '') cause = cause.errors[0];
    const words = cause instanceof Error ? cause.message : String(cause);
    const reason = words.replace(FIRST_REQUEST, '');
    if (reason !== '' && !reasons.some((one) => one.includes(reason))) reasons.push(reason);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return reasons.join(': ');
}
