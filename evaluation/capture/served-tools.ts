/**
 * Servers of connectors (MCP) in a captured case: what the run learned of them at its opening, and what they asked people.
 * Invariants: a question stands in the case as often as its server asked it; the state of a server is the recorded one, byte
 * by byte.
 */
import { canonicalJson, digestOf, type Json } from '../../core/json/json.js';
import { isRecord } from '../../core/json/shape.js';
import type { ExecuteToolInput } from '../../core/state/effect.js';
import type { OpenExchange } from '../../core/state/elicitation.js';
import type { ToolRecord } from '../../core/state/tool.js';
import type { Exchange } from '../../connectors/index.js';
import type { WrittenTool } from '../convert-tools.js';
import type { FixtureDocument } from '../format/document.js';
import type { WrittenResult } from '../format/tools.js';
import { outputOf, type Activity, type Recording } from './recording.js';
import { refused } from './refused.js';
import type { Texts } from './texts.js';

type Servers = NonNullable<FixtureDocument['mcp']>;
type Moments = NonNullable<FixtureDocument['during']>;

/** Words of forms that a hidden answer need not fit any more. */
const BROKEN_BY_HIDING: ReadonlySet<string> = new Set(['format', 'pattern']);
const DESCRIBED_OTHERWISE = 'Described otherwise than when the run began.';

/** Undefined: the run used no connector. */
export function serversIn({ opened, frozen }: Recording): Servers | undefined {
  if (opened.connectors === undefined) return undefined;
  const { connectors: told, missing } = opened.connectors;
  return Object.fromEntries(
    told.map(({ name, status, era }): [string, Servers[string]] => {
      const own = frozen.tools.filter(({ mcp }) => mcp?.connector === name);
      const isRequired = missing?.connector === name || own.some(({ required }) => required);
      const [first] = own;
      return [
        name,
        {
          ...(isRequired && { required: true }),
          ...(era === 'legacy' && { protocol: era }),
          ...(status === 'failed' && { is: 'down' as const }),
          ...(first !== undefined && {
            timeoutMs: first.timeoutMs,
            maxResultBytes: first.maxResultBytes,
          }),
        },
      ];
    }),
  );
}

/** What the server and the configuration said of a tool; the rest follows from its effect. */
export function servedDeclaration({ effect, version }: ToolRecord): Partial<WrittenTool> {
  // Behind the `+` stands what pins the definition.
  const given = version.slice(0, Math.max(0, version.lastIndexOf('+')));
  return {
    kind: 'mcp',
    effect,
    ...(given !== '1' && given !== '' && { version: given }),
  } as Partial<WrittenTool>;
}

/** The output schema of a tool of a server; in words why the case has none although the server had said one. */
interface ServedOutput {
  readonly outputSchema?: WrittenTool['outputSchema'];
  readonly leftOut?: string;
}

export function servedOutput(
  { name, mcp, outputSchemaHash }: ToolRecord,
  recorded: WrittenTool['recorded'],
  { texts, isRedacted }: Exchanges,
): ServedOutput {
  if (mcp === undefined || outputSchemaHash === undefined) return {};
  const without = (why: string): ServedOutput => ({
    leftOut: `the output schema of ${name}: ${why}, so the case does not hold results against it`,
  });
  if (isRedacted) return without('texts are hidden');
  const said = texts.held(mcp.hash);
  if (said === undefined) return without('the record does not have it');
  const { outputSchema } = JSON.parse(said) as { readonly outputSchema?: Json };
  if (outputSchema === undefined || digestOf(outputSchema) !== outputSchemaHash)
    return without('the record has another one');
  const results = (recorded ?? []).flatMap((call) => call.results);
  // Servers of cases give objects alone as structured content.
  const isPlain = results.some((one) => 'ok' in one && !isRecord(one.ok));
  if (isPlain) return without('a result is no object');
  return { outputSchema: outputSchema as NonNullable<WrittenTool['outputSchema']> };
}

/** Servers of which a configuration says the rest. */
export function bareServers(servers: Servers): Servers {
  return Object.fromEntries(
    Object.entries(servers).map(([name, { is, protocol }]): [string, Servers[string]] => [
      name,
      { ...(is !== undefined && { is }), ...(protocol !== undefined && { protocol }) },
    ]),
  );
}

/** The same where a configuration says what a tool does: words and schemas are the server's, which is believed that a tool is a read if trusted. */
export function offeredTool({ effect, results, recorded, ...said }: WrittenTool): WrittenTool {
  const { description, inputSchema, outputSchema } = said;
  return {
    kind: 'mcp',
    ...(description !== undefined && { description }),
    ...(inputSchema !== undefined && { inputSchema }),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(effect === 'read' && { annotations: { readOnlyHint: true } }),
    ...(results !== undefined && { results }),
    ...(recorded !== undefined && { recorded }),
  };
}

/** The server of a call was away, or described its tool otherwise: it becomes so when the call begins. */
export function serverAway(
  { mcp, name }: ToolRecord,
  activity: Activity,
  { callId, answered }: ExecuteToolInput['call'],
): Moments | undefined {
  const outcome = outputOf(activity, 'execute_tool')?.outcome;
  if (mcp === undefined || outcome?.kind !== 'error' || outcome.code !== 'tool_unavailable')
    return undefined;
  if (answered !== undefined)
    throw refused(`the server of ${name} was lost between its question and the answer`);
  const begins = { event: 'tool_started' as const, call: callId };
  const { connector } = mcp;
  if (outcome.changed === true) {
    const tools = { [name]: { description: DESCRIBED_OTHERWISE } };
    return [{ on: begins, do: [{ server: { name: connector, tools } }] }];
  }
  return [
    { on: begins, do: [{ server: { name: connector, is: 'down' } }] },
    {
      on: { event: 'tool_finished', call: callId },
      do: [{ server: { name: connector, is: 'up' } }],
    },
  ];
}

export interface Exchanges {
  readonly texts: Texts;
  /** Texts of the bundle are hidden. */
  readonly isRedacted: boolean;
}

/** The question of a server; undefined: the runtime asked the rest of an exchange, or the same again. */
export function questionIn(
  open: OpenExchange,
  { answered }: ExecuteToolInput['call'],
  exchanges: Exchanges,
): WrittenResult | undefined {
  const now = exchangeIn(open.exchange, exchanges);
  if (open.elicitation.problem !== undefined) return undefined;
  if (answered !== undefined && Object.keys(now.responses).length > 0) {
    const before = exchangeIn(answered.exchange, exchanges);
    if (canonical(before.requests) === canonical(now.requests)) return undefined;
  }
  return asResult({ ...now, requests: askedOfPeople(now) }, exchanges);
}

/** Without those that their own forms answered: the case's connector has no such setting. */
function askedOfPeople({ requests, responses }: Exchange): Exchange['requests'] {
  return requests.filter(({ key }) => !Object.hasOwn(responses, key));
}

/** What a server of the old protocol asks again when its call begins anew: it hears the answers then. */
export function askedAnew(
  { answered }: ExecuteToolInput['call'],
  exchanges: Exchanges,
): readonly WrittenResult[] {
  if (answered === undefined) return [];
  const exchange = exchangeIn(answered.exchange, exchanges);
  return exchange.era === 'legacy' ? [asResult(exchange, exchanges)] : [];
}

function exchangeIn(stored: OpenExchange['exchange'], { texts }: Exchanges): Exchange {
  return JSON.parse(texts.text(stored)) as Exchange;
}

function canonical(value: unknown): string {
  return canonicalJson(value as Json);
}

function asResult({ requests, state }: Exchange, { isRedacted }: Exchanges): WrittenResult {
  const questions = requests.map(({ key, request }) => [
    key,
    request.mode === 'url'
      ? { message: request.message, url: request.url }
      : {
          message: request.message,
          schema: isRedacted ? withoutForms(request.schema) : request.schema,
        },
  ]);
  return {
    input_required: {
      questions: Object.fromEntries(questions),
      ...(state !== undefined && { state }),
    },
  } as WrittenResult;
}

function withoutForms(schema: Json): Json {
  if (!isRecord(schema)) return schema;
  const { properties } = schema as { readonly properties?: Json };
  if (!isRecord(properties)) return schema;
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    isRecord(field)
      ? Object.fromEntries(Object.entries(field).filter(([word]) => !BROKEN_BY_HIDING.has(word)))
      : field,
  ]);
  return { ...schema, properties: Object.fromEntries(fields) } as Json;
}
