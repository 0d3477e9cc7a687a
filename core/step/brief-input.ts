/**
 * What activities are given, as histories have it under rules with `briefPayloads`: without what the rest of the payload, the
 * run's first event or a constant says.
 * Invariants: `wholeInput` gives back what `briefInput` was given, except the run's own route, which `withRoute` puts back;
 * payloads of version 1 stay as they are. The constants are part of the form: they stand here for ever, whatever the
 * defaults of settings become.
 */
import { ownValue, type Json } from '../json/json.js';
import { isRecord } from '../json/shape.js';
import type { ActivityEffect, ActivityKind, ExecuteToolInput, Grant } from '../state/effect.js';
import type { ModelRoute } from '../state/model.js';
import {
  BRIEF_VERSION,
  PAYLOAD_VERSION,
  type RunRef,
  type StoreRef,
} from '../state/payloads/payload.js';
import type { ResultItem, TranscriptItem } from '../state/transcript.js';
import { briefEvents, fullEvents, isSame, type BriefEvent } from './brief-events.js';
import { ownId, wholeId } from './brief-ids.js';
import { routeHash } from './route.js';

type Fields = { readonly [field: string]: Json | undefined };
type Growing = { [field: string]: Json | undefined };

const TENANT = 'default';

/** Fields of inputs that are mostly so. Null: the field is absent. */
const USUAL: { readonly [kind: string]: Fields } = {
  call_model: {
    temperature: 1,
    maxRetries: { serverError: 3, other: 6 },
    workMs: 600_000,
    unservedMs: 86_400_000,
  },
  execute_tool: {
    timeoutMs: 30_000,
    unservedMs: 86_400_000,
    inlineBytesMax: 4_096,
    maxRetries: 1,
  },
};

const NOTHING: Fields = {};

/** Characters of a result that a model sees. */
const USUAL_CHARS = 30_000;

/** Ids of messages that the input names. */
const IDS = ['replyMessageId', 'messageId'] as const;

/** An input as its activity is to be given it. */
export function briefInput({ kind, input, brief }: ActivityEffect): unknown {
  if (brief === undefined) return input;
  const given = input as unknown as Fields;
  const { run, events, append } = input as Partial<typeof input> & Appending;
  const { runId } = run!;
  const usual = USUAL[kind] ?? NOTHING;
  const said: Growing = {};
  // An object is slow from which a field is deleted.
  for (const field in given)
    if (usual[field] === undefined || !isSame(given[field], usual[field]))
      said[field] = given[field];
  said['v'] = BRIEF_VERSION;
  said['run'] = briefRun(run!) as unknown as Json;
  for (const field in usual) if (given[field] === undefined) said[field] = null;
  for (const field of IDS) {
    const id = given[field];
    if (typeof id === 'string') said[field] = ownId(id, runId);
  }
  if (kind === 'execute_tool') Object.assign(said, briefCall(input as ExecuteToolInput));
  if (append !== undefined)
    said['append'] = append.map((item) => briefItem(item, runId)) as unknown as Json;
  if (events !== undefined)
    said['events'] = briefEvents(events, { runId, ...(append && { append }) }) as unknown as Json;
  return ROUTED.includes(kind) ? withoutRoute(said, brief.route) : said;
}

interface Appending {
  readonly append?: readonly TranscriptItem[];
}

/** The route of the run's first event is not said again, nor that a reply may be as long as the route allows. */
function withoutRoute(said: Fields, told: string | undefined): Fields {
  const { route, maxTokens, ...rest } = said;
  const own = route as unknown as ModelRoute | undefined;
  if (own === undefined || told === undefined || routeHash(own) !== told) return said;
  return maxTokens === own.maxOutputTokens ? rest : { ...rest, maxTokens };
}

/** A whole input; of a brief one without its route, where the run's first event has it. Errors: TypeError for what is none. */
export function wholeInput(kind: string, given: Json): Json {
  if (!isRecord(given) || ownValue(given, 'v') !== BRIEF_VERSION) return given;
  const said = given as Fields;
  const run = wholeRun(said['run'] as unknown as BriefRun);
  const { runId } = run;
  const input: Growing = { ...said, v: PAYLOAD_VERSION, run: run as unknown as Json };
  const usual = USUAL[kind] ?? NOTHING;
  for (const field in usual) {
    if (said[field] === null) delete input[field];
    else if (said[field] === undefined) input[field] = usual[field];
  }
  for (const field of IDS) {
    const id = said[field];
    if (typeof id === 'string') input[field] = wholeId(id, runId);
  }
  if (kind === 'execute_tool') Object.assign(input, wholeCall(said as unknown as BriefCall, runId));
  const append = wholeItems(said['append'], runId);
  if (append !== undefined) input['append'] = append as unknown as Json;
  const events = said['events'] as unknown as readonly BriefEvent[] | undefined;
  if (events !== undefined)
    input['events'] = fullEvents(events, { runId, ...(append && { append }) }) as unknown as Json;
  return input as Json;
}

/** Activities whose inputs have a route. */
export const ROUTED: readonly string[] = ['call_model', 'compact'] satisfies ActivityKind[];

/** The input with the route of the run's first event, where it says none. */
export function withRoute<Input extends object>(input: Input, route: ModelRoute): Input {
  if ('route' in input) return input;
  return { maxTokens: route.maxOutputTokens, ...input, route };
}

interface BriefRun extends Omit<RunRef, 'tenant' | 'traceId' | 'store'> {
  /** Absent: `default`. */
  readonly tenant?: string;
  /** Absent: the id of the run. */
  readonly traceId?: string;
  /** Without an epoch: the first. */
  readonly store?: Pick<StoreRef, 'id'> & Partial<StoreRef>;
}

const FIRST_EPOCH = 1;

function briefRun({ tenant, runId, traceId, store }: RunRef): BriefRun {
  return {
    ...(tenant !== TENANT && { tenant }),
    runId,
    ...(traceId !== runId && { traceId }),
    ...(store && { store: store.epoch === FIRST_EPOCH ? { id: store.id } : store }),
  };
}

function wholeRun({ store, ...run }: BriefRun): RunRef {
  return {
    tenant: TENANT,
    traceId: run.runId,
    ...run,
    ...(store && { store: { epoch: FIRST_EPOCH, ...store } }),
  };
}

interface BriefCall {
  readonly call: ExecuteToolInput['call'];
  /** Without a digest: that of the call. Approved by nobody: the field is absent. */
  readonly grant: Omit<Grant, 'digest' | 'approvedBy'> & Partial<Grant>;
}

function briefCall({ run, call, grant }: ExecuteToolInput): BriefCall {
  const { digest, approvedBy, ...granted } = grant;
  return {
    call: { ...call, key: ownId(call.key, run.runId) },
    grant: {
      ...granted,
      ...(digest !== call.digest && { digest }),
      ...(approvedBy.length > 0 && { approvedBy }),
    },
  };
}

function wholeCall(
  { call, grant }: BriefCall,
  runId: string,
): Pick<ExecuteToolInput, 'call' | 'grant'> {
  return {
    call: { ...call, key: wholeId(call.key, runId) },
    grant: { digest: call.digest, approvedBy: [], ...grant },
  };
}

type BriefItem =
  | Extract<TranscriptItem, { kind: 'user' }>
  | {
      readonly kind: 'results';
      readonly messageId: string;
      readonly results: readonly BriefResult[];
    };

interface BriefResult extends Omit<ResultItem, 'isError' | 'maxChars'> {
  /** Absent: false. */
  readonly isError?: true;
  /** Null: the model sees all of it. */
  readonly maxChars?: number | null;
}

function briefItem(item: TranscriptItem, runId: string): BriefItem {
  const messageId = ownId(item.messageId, runId);
  if (item.kind !== 'results') return { ...item, messageId };
  const results = item.results.map(({ isError, maxChars, ...result }) => ({
    ...result,
    ...(isError && { isError: true as const }),
    ...(maxChars !== USUAL_CHARS && { maxChars: maxChars ?? null }),
  }));
  return { ...item, messageId, results };
}

function wholeItems(items: Json | undefined, runId: string): readonly TranscriptItem[] | undefined {
  if (items === undefined) return undefined;
  return (items as unknown as readonly BriefItem[]).map((item): TranscriptItem => {
    const messageId = wholeId(item.messageId, runId);
    if (item.kind !== 'results') return { ...item, messageId };
    const results = item.results.map(({ isError = false, maxChars = USUAL_CHARS, ...result }) => ({
      ...result,
      isError,
      ...(maxChars !== null && { maxChars }),
    }));
    return { ...item, messageId, results };
  });
}
