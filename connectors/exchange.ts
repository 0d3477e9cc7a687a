/**
 * The exchange of one call with its server, as it is stored while a person is asked.
 * Invariants: the state of the server goes back byte by byte; each request is answered once, by what its form allows;
 * nothing opens an address.
 */
import type { Json } from '../core/json/json.js';
import type { Elicitation } from '../core/state/elicitation.js';
import { schemaCheck } from './schema-check.js';
import { schemaProblem } from './schema-problem.js';
import type { Secrets } from './secrets.js';

const MESSAGE_CHARS_MAX = 2_000;
const PROBLEM_CHARS_MAX = 300;
const URL_CHARS_MAX = 2_000;
const FORM_BYTES_MAX = 4_096;
/** Questions of one call that are open at a time. */
export const REQUESTS_MAX = 10;
const STATE_BYTES_MAX = 256 * 1024;

export interface FormRequest {
  readonly mode: 'form';
  readonly message: string;
  readonly schema: Json;
}
export interface UrlRequest {
  readonly mode: 'url';
  readonly message: string;
  readonly url: string;
  readonly elicitationId?: string;
}
export type PersonRequest = FormRequest | UrlRequest;

export type PersonResponse =
  | { readonly action: 'accept'; readonly content?: Json }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

export interface Exchange {
  readonly v: 1;
  /** 'legacy': the call was ended with `cancel`, and begins anew with the answers. */
  readonly era: 'modern' | 'legacy';
  /** In the order of the server. */
  readonly requests: readonly { readonly key: string; readonly request: PersonRequest }[];
  readonly responses: { readonly [key: string]: PersonResponse };
  /** Of the server, as it came. */
  readonly state?: string;
}

/** What a tool of a server throws when a person has to answer first. */
export class InputRequired extends Error {
  readonly exchange: Exchange;
  /** Whose server asks. */
  readonly connector: string;

  constructor(connector: string, exchange: Exchange) {
    super('The server asks a person.');
    // What the runtime takes for "nothing happened": the protocol says so of a call that asks.
    this.name = 'ToolError';
    this.exchange = exchange;
    this.connector = connector;
  }

  readonly code = 'input_required';
}

export function isInputRequired(error: unknown): error is InputRequired {
  return error instanceof InputRequired;
}

/** Reads a request of the server; a text: why it is refused. */
export function personRequest(method: string, params: unknown): PersonRequest | string {
  if (method === 'sampling/createMessage') return 'it asks for a model, which it is not offered';
  if (method === 'roots/list') return 'it asks for folders, which it is not offered';
  if (method !== 'elicitation/create') return 'it asks for something that is not known';
  const {
    mode = 'form',
    message,
    url,
    elicitationId,
    requestedSchema,
  } = (params ?? {}) as { readonly [name: string]: unknown };
  if (typeof message !== 'string') return 'its question has no text';
  const shown = message.slice(0, MESSAGE_CHARS_MAX);
  if (mode === 'url') return urlRequest(shown, url, elicitationId);
  if (mode !== 'form') return 'its question is of an unknown kind';
  const schema = requestedSchema as Json;
  const isObject = typeof schema === 'object' && schema !== null && !Array.isArray(schema);
  if (!isObject) return 'its question has no form';
  if (Buffer.byteLength(JSON.stringify(schema)) > FORM_BYTES_MAX)
    return `its form is larger than ${FORM_BYTES_MAX} bytes`;
  const problem = schemaProblem(schema);
  return problem === undefined ? { mode, message: shown, schema } : `its form ${problem}`;
}

/** What people are shown of it has no secrets. */
export function hiddenIn(request: PersonRequest, secrets: Secrets): PersonRequest {
  const message = secrets.strip(request.message);
  return request.mode === 'url'
    ? { ...request, message, url: secrets.strip(request.url) }
    : { ...request, message };
}

function urlRequest(message: string, url: unknown, id: unknown): PersonRequest | string {
  const isUrl =
    typeof url === 'string' &&
    url.length <= URL_CHARS_MAX &&
    URL.canParse(url) &&
    /^https?:$/.test(new URL(url).protocol);
  if (!isUrl) return 'its address is no address of the web';
  return { mode: 'url', message, url, ...(typeof id === 'string' && { elicitationId: id }) };
}

/** The exchange of an `input_required` result; a text: why it is refused. */
export function exchangeOf(result: unknown): Exchange | string {
  const { inputRequests = {}, requestState: state } = result as {
    readonly inputRequests?: { readonly [key: string]: unknown };
    readonly requestState?: unknown;
  };
  const entries = Object.entries(inputRequests ?? {});
  if (entries.length > REQUESTS_MAX) return `it asks ${entries.length} questions at once`;
  if (
    state !== undefined &&
    (typeof state !== 'string' || Buffer.byteLength(state) > STATE_BYTES_MAX)
  )
    return 'its state is too large';
  const requests: { key: string; request: PersonRequest }[] = [];
  for (const [key, value] of entries) {
    const { method, params } = value as { readonly method?: unknown; readonly params?: unknown };
    const request = personRequest(String(method), params);
    if (typeof request === 'string') return request;
    requests.push({ key, request });
  }
  return {
    v: 1,
    era: 'modern',
    requests,
    responses: {},
    ...(typeof state === 'string' && { state }),
  };
}

/** The question that is to be answered next; undefined: all are. */
export function nextQuestion(
  connector: string,
  { era, requests, responses }: Exchange,
  problem?: string,
): Elicitation | undefined {
  const open = requests.find(({ key }) => !Object.hasOwn(responses, key))?.request;
  if (open === undefined) return undefined;
  return {
    connector,
    message: open.message,
    mode: open.mode,
    ...(open.mode === 'form' ? { schema: open.schema } : { url: open.url }),
    ...(problem !== undefined && { problem: problem.slice(0, PROBLEM_CHARS_MAX) }),
    ...(era === 'legacy' && { again: true as const }),
  };
}

export type Taken =
  | { readonly ok: true; readonly exchange: Exchange }
  | { readonly ok: false; readonly problem: string };

/** Puts a person's words to the question that is open. */
export async function takeAnswer(exchange: Exchange, answer: Json): Promise<Taken> {
  const open = exchange.requests.find(({ key }) => !Object.hasOwn(exchange.responses, key));
  if (open === undefined) return { ok: true, exchange };
  const response = await responseOf(open.request, answer);
  if (typeof response === 'string') return { ok: false, problem: response };
  const responses = { ...exchange.responses, [open.key]: response };
  return { ok: true, exchange: { ...exchange, responses } };
}

/** A text says why the words are no answer. */
async function responseOf(request: PersonRequest, answer: Json): Promise<PersonResponse | string> {
  const said = typeof answer === 'string' ? read(answer) : answer;
  const action = actionIn(said);
  if (action === 'decline' || action === 'cancel') return { action };
  if (request.mode === 'url') {
    return action === 'accept' ? { action } : 'say accept, decline or cancel';
  }
  const content = contentOf(request, action === 'accept' ? inner(said) : said);
  const check = await schemaCheck(request.schema);
  const problem = check(content);
  return problem === undefined ? { action: 'accept', content } : problem;
}

/** JSON where it is an object, else the words as they are. */
function read(text: string): Json {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) return trimmed;
  try {
    return JSON.parse(trimmed) as Json;
  } catch {
    return trimmed;
  }
}

function actionIn(said: Json): unknown {
  if (typeof said === 'string') return said.toLowerCase();
  if (!isObject(said) || Object.keys(said).some((key) => key !== 'action' && key !== 'content'))
    return undefined;
  return said['action'];
}

function inner(said: Json): Json {
  return isObject(said) ? (said['content'] ?? {}) : {};
}

/** What the person left out has the default of the form; a form of one field takes plain words. */
export function contentOf({ schema }: FormRequest, said: Json): Json {
  const { properties = {} } = schema as { readonly properties?: { readonly [name: string]: Json } };
  const fields = Object.entries(properties);
  const [only] = fields;
  const given: { readonly [name: string]: Json } = isObject(said)
    ? said
    : fields.length === 1 && only !== undefined
      ? { [only[0]]: said }
      : {};
  const defaults = fields.flatMap(([name, field]) => {
    const value = isObject(field) ? field['default'] : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  const entries = Object.entries(given).map(([name, value]) => {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, coerced(field, value)] as const;
  });
  return Object.fromEntries([...defaults, ...entries]);
}

/** People write texts. */
function coerced(field: Json | undefined, value: Json): Json {
  const type = field !== undefined && isObject(field) ? field['type'] : undefined;
  if (typeof value !== 'string') return value;
  const isNumber = (type === 'number' || type === 'integer') && value.trim() !== '';
  if (isNumber && Number.isFinite(Number(value))) return Number(value);
  if (type === 'boolean' && /^(true|yes)$/i.test(value)) return true;
  if (type === 'boolean' && /^(false|no)$/i.test(value)) return false;
  return value;
}

function isObject(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
