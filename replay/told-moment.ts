/**
 * What is told of a recorded run: the index of its steps, and one moment of it. The same to a terminal, a program and a
 * page.
 */
import { ownValue } from '../core/json/json.js';
import type { CallModelInput } from '../core/state/effect.js';
import { HoldfastError } from '../core/state/errors.js';
import type { ModelRequest } from '../providers/provider.js';
import type { Divergence } from '../recording/divergence.js';
import type { Fold } from '../recording/fold.js';
import { sourcesOf, type Source } from '../pure/sources.js';
import { momentView, requestBegunAt, type MomentView } from '../recording/moment-view.js';
import type { ReplyView, RequestPlace } from '../recording/reply-view.js';
import type { FoldStep } from '../recording/steps.js';
import type { Bundle } from './bundle.js';
import { recordedRequest } from './recorded-request.js';
import { withFilesInWords } from './told-files.js';

/** Conversation and texts that a request refers to. */
export type Referred = Pick<Bundle, 'nodes' | 'blobs'>;

export interface FoldedRecord {
  readonly fold: Fold;
  readonly source: 'file' | 'run';
  readonly redactions: Bundle['redactions'];
  /** What a value refers to. Errors: `TranscriptMissing`. */
  referred(value: object): Promise<Referred>;
}

export interface ToldIndex<Steps = readonly FoldStep[]> {
  readonly runId: string;
  readonly kind: Fold['kind'];
  readonly source: FoldedRecord['source'];
  readonly steps: Steps;
  readonly divergences: readonly Divergence[];
  readonly redactions: readonly { readonly rule: string; readonly count: number }[];
}

/** What the index of a record is made of. */
export interface Indexed<Steps> extends Pick<FoldedRecord, 'source' | 'redactions'> {
  readonly fold: Pick<Fold, 'run' | 'kind' | 'divergences'> & { readonly steps: Steps };
}

export function toldIndex<Steps>({ fold, source, redactions }: Indexed<Steps>): ToldIndex<Steps> {
  const { run, kind, steps, divergences } = fold;
  return {
    runId: run.runId,
    kind,
    source,
    steps,
    divergences,
    redactions: redactions.map(({ rule, count }) => ({ rule, count })),
  };
}

/** `missing`: why nothing more of it can be told. */
export type ToldRequest = Partial<NewestOf> & { readonly missing?: string };

interface NewestOf extends ModelRequest {
  /** Messages before those that are told; absent: all are told. */
  readonly earlierMessages?: number;
}

export interface ToldReply extends Omit<ReplyView, 'text'> {
  /** In full. */
  readonly text?: string;
  /** What it cites. */
  readonly sources?: readonly Source[];
  readonly missing?: string;
}

export interface ToldMoment extends Omit<MomentView, 'request' | 'reply' | 'answered'> {
  readonly runId: string;
  readonly kind: Fold['kind'];
  readonly source: FoldedRecord['source'];
  readonly request?: NonNullable<MomentView['request']> & ToldRequest;
  readonly reply?: ToldReply;
  readonly answered?: NonNullable<MomentView['answered']> & ToldRequest;
  /** The whole run or goal. */
  readonly state: object;
}

/** Of each request, so many of its newest messages are told; absent: all of them. */
export interface ToldPart {
  readonly messages?: number | undefined;
}

/** Errors: `StepNotFound`. */
export async function toldMoment(
  record: FoldedRecord,
  step: number,
  { messages = Infinity }: ToldPart = {},
): Promise<ToldMoment> {
  const { fold, source } = record;
  const { request, reply, answered, ...view } = momentView(fold, step);
  const asked = (place: RequestPlace) => requestAt(record, place, messages);
  return {
    runId: fold.run.runId,
    kind: fold.kind,
    source,
    ...view,
    ...(request !== undefined && { request: await asked(request) }),
    ...(reply !== undefined && { reply: await replyOf(record, reply) }),
    ...(answered !== undefined && { answered: await asked(answered) }),
    state: fold.at(step).after,
  };
}

async function requestAt(
  record: FoldedRecord,
  place: RequestPlace,
  messages: number,
): Promise<RequestPlace & ToldRequest> {
  const input = requestBegunAt(record.fold, place.step);
  return { ...place, ...(input && (await requestOf(record, input, messages).catch(untold))) };
}

async function replyOf(record: FoldedRecord, reply: ReplyView): Promise<ToldReply> {
  const { text, ...said } = reply;
  const rest = { ...said, ...(await citedIn(record, reply)) };
  if (text === undefined) return rest;
  if ('text' in text) return { ...rest, text: text.text };
  const { $blob } = text;
  const found = await record.referred(text).then(({ blobs }) => ownValue(blobs, $blob), untold);
  if (typeof found === 'string') return { ...rest, text: found };
  return { ...rest, missing: found?.missing ?? `The record has no text ${$blob}.` };
}

async function citedIn(
  record: FoldedRecord,
  { step }: ReplyView,
): Promise<Pick<ToldReply, 'sources'>> {
  if (record.fold.kind !== 'run') return {};
  const received = record.fold.at(step).given.findLast(({ type }) => type === 'model_replied');
  if (received?.type !== 'model_replied') return {};
  const { head } = received.output;
  const found = await record.referred({ head }).catch(untold);
  const node = 'nodes' in found ? ownValue(found.nodes, head) : undefined;
  const sources = sourcesOf(node?.['raw']);
  return sources.length > 0 ? { sources } : {};
}

async function requestOf(
  record: FoldedRecord,
  input: CallModelInput,
  messages: number,
): Promise<NewestOf> {
  const request = await recordedRequest(await record.referred(input), input);
  return withFilesInWords(newestOf(request, messages));
}

function newestOf(request: ModelRequest, messages: number): NewestOf {
  const earlierMessages = request.messages.length - messages;
  if (earlierMessages <= 0) return request;
  return { ...request, messages: request.messages.slice(earlierMessages), earlierMessages };
}

/** What is missing of one request keeps nobody from the rest of the moment. */
function untold(error: unknown): { readonly missing: string } {
  if (!(error instanceof HoldfastError)) throw error;
  return { missing: error.message };
}
