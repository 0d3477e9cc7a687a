/**
 * The model of an agent under test, as a script: one entry for each logical request of a run.
 * Invariants: an attempt that is made again gets the entry of its request; a request without an entry fails the test, and is
 * never answered with something made up.
 */
import { wireNameOf } from '../../core/state/tool.js';
import type { Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Usage } from '../../core/state/model.js';
import type { Block } from '../../core/state/transcript.js';
import { plural } from '../../pure/plural.js';
import { answeredText, codeOfStatus } from '../../providers/attempt-failure.js';
import {
  modelFailure,
  type ModelProgress,
  type ModelReply,
  type ModelRequest,
  type Provider,
} from '../../providers/provider.js';
import { RETRIED_CODES } from '../model-codes.js';
import type { Counted } from '../outside-work.js';
import type { TestFailure, TestReply, TestTurn } from './test-turn.js';
import { checkTurn } from './turns.js';

/** What a script that is a function is told. */
export interface TestRequest extends ModelRequest {
  /** Among the requests of this agent in this run, from 1. */
  readonly call: number;
  readonly agent: string;
  readonly runId: string;
}

/** By request in order, or a function of the request; undefined: nothing is scripted for it. */
export type ModelScript =
  | readonly TestTurn[]
  | ((request: TestRequest) => TestTurn | undefined | Promise<TestTurn | undefined>);

/** A reply with one call. */
export function calls(tool: string, input: Json = {}): TestReply {
  return { calls: [{ tool, input }] };
}

const USAGE: Usage = { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0 };
const SUMMARY = 'Summary of the conversation so far.';
const TEXT_SHOWN_CHARS = 200;

export interface ScriptPlace {
  /** Of a run, by the name of its agent. */
  readonly scriptOf: (agent: string) => ModelScript | undefined;
  readonly agentOf: (runId: string) => string;
  /** Waits in virtual time. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly counted: Counted;
  /** Ends the test with this error. */
  readonly fail: (error: unknown) => void;
}

/** Stands in the place of every vendor. */
export function scriptedProvider(place: ScriptPlace): Provider {
  const attempts = new Map<string, number>();
  const asked = new Map<string, number[]>();
  const ids = { last: 0 };
  /** Of a request among those of its run and agent, from 1: a run may go on under another agent. */
  const numberOf = (who: string, call: number): number => {
    const known = asked.get(who) ?? [];
    if (!known.includes(call)) known.push(call);
    asked.set(who, known);
    return known.indexOf(call) + 1;
  };
  return {
    name: 'script',
    async complete(request, progress) {
      const { purpose, name, runId = '', call = 1 } = request.metadata ?? {};
      if (purpose === 'compaction') return replyOf({ text: SUMMARY }, request, ids);
      const agent = purpose === undefined ? place.agentOf(runId) : (name ?? purpose);
      const who = `${runId} ${agent}`;
      const number = numberOf(who, call);
      const attempt = (attempts.get(`${who} ${number}`) ?? 0) + 1;
      attempts.set(`${who} ${number}`, attempt);
      const turn = await turnOf(place, { ...request, agent, runId, call: number });
      return play(entryOf(turn, attempt), { request, progress, place, ids });
    },
  };
}

async function turnOf(place: ScriptPlace, request: TestRequest): Promise<TestTurn> {
  const { agent } = request;
  const script = place.scriptOf(agent);
  if (script === undefined) throw failing(place, unscripted(agent));
  const turn = await place.counted(said(script, request, place), 'the script of the test');
  if (turn !== undefined) return turn;
  throw failing(
    place,
    exhausted(request, typeof script === 'function' ? undefined : script.length),
  );
}

/** What a script throws, as an expectation about the prompt does, is an error of the test. */
async function said(
  script: ModelScript,
  request: TestRequest,
  { fail }: ScriptPlace,
): Promise<TestTurn | undefined> {
  const { call, agent } = request;
  try {
    const turn = typeof script === 'function' ? await script(request) : script[call - 1];
    if (turn !== undefined) checkTurn(turn, { call, agent });
    return turn;
  } catch (error) {
    fail(error);
    throw error;
  }
}

function entryOf(turn: TestTurn, attempt: number): TestReply | TestFailure {
  const entry = isList(turn) ? turn[Math.min(attempt, turn.length) - 1] : turn;
  return typeof entry === 'string' ? { text: entry } : (entry ?? {});
}

function isList(turn: TestTurn): turn is Extract<TestTurn, readonly unknown[]> {
  return Array.isArray(turn);
}

interface Played {
  readonly request: ModelRequest;
  readonly progress: ModelProgress;
  readonly place: ScriptPlace;
  readonly ids: Ids;
}

interface Ids {
  last: number;
}

async function play(
  entry: TestReply | TestFailure,
  { request, progress: { signal, onDelta }, place, ids }: Played,
): Promise<ModelReply> {
  if (entry.takesMs !== undefined) await place.wait(entry.takesMs, signal);
  if (isFailure(entry) && !signal.aborted) throw failureOf(entry);
  if (signal.aborted) {
    const none = replyOf({ usage: { input: 0, output: 0 } }, request, ids);
    return {
      ...none,
      stop: 'unknown',
      stopDetail: 'aborted',
      usageSource: 'unsent',
      partial: true,
    };
  }
  const reply = replyOf(entry as TestReply, request, ids);
  reply.blocks.forEach((block, index) => {
    if (block.type === 'text') onDelta?.({ type: 'text', block: index, text: block.text });
  });
  return reply;
}

function isFailure(entry: TestReply | TestFailure): entry is TestFailure {
  return 'status' in entry && entry.status !== undefined;
}

function replyOf(entry: TestReply, { model }: ModelRequest, ids: Ids): ModelReply {
  const { text, thinking, calls: called = [], output, usage } = entry;
  const words = text ?? (output === undefined ? undefined : JSON.stringify(output));
  const blocks: Block[] = [
    ...(thinking === undefined ? [] : [{ type: 'thinking' as const, text: thinking }]),
    ...(words === undefined || words === '' ? [] : [{ type: 'text' as const, text: words }]),
    ...called.map(({ tool, input = {}, id }) => {
      ids.last += 1;
      const own = id ?? `call_${ids.last}`;
      return { type: 'tool_use' as const, id: own, tool: wireNameOf(tool), args: input };
    }),
  ];
  return {
    blocks,
    raw: blocks as unknown as readonly Json[],
    stop: entry.stop ?? (called.length > 0 ? 'tool_use' : 'end_turn'),
    usage: { ...USAGE, ...usage },
    usageSource: 'reported',
    model,
    incompleteCalls: 0,
  };
}

function failureOf({ status, message, retryAfterMs }: TestFailure): HoldfastError {
  const code = codeOfStatus(status, message ?? '');
  const text =
    message === undefined
      ? `The scripted model answers with status ${status}.`
      : answeredText(status, message);
  return modelFailure(code, text, {
    status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    receivedInput: false,
    receivedOutputTokensEstimate: 0,
    shouldRetry: RETRIED_CODES.includes(code),
  });
}

/** The test is told; the run hears of a request that cannot be answered. */
function failing({ fail }: ScriptPlace, error: HoldfastError): HoldfastError {
  fail(error);
  return modelFailure('InvalidRequest', error.message, {
    receivedInput: false,
    receivedOutputTokensEstimate: 0,
    shouldRetry: false,
  });
}

function unscripted(agent: string): HoldfastError {
  return new HoldfastError('InvalidFixture', `Nothing is scripted for the agent ${agent}.`, {
    hint: `Give the test agents: { ${JSON.stringify(agent)}: [ … ] }.`,
  });
}

function exhausted(request: TestRequest, length: number | undefined): HoldfastError {
  const { agent, call, messages } = request;
  const why =
    length === undefined
      ? `gives no turn for request ${call}`
      : `has ${plural(length, 'turn')}, and request ${call} was made`;
  return new HoldfastError(
    'InvalidFixture',
    `The script of the agent ${agent} ${why}. The request ends with: ${shownEnd(messages)}`,
    { hint: 'Add a turn to the script, or find out why the agent goes on.' },
  );
}

function shownEnd(messages: ModelRequest['messages']): string {
  const texts = (messages.at(-1)?.blocks ?? []).map((block) =>
    block.type === 'tool_use'
      ? JSON.stringify(block.args)
      : block.type === 'file'
        ? `[${block.mediaType}]`
        : block.text,
  );
  const text = texts.join(' ');
  return text.length <= TEXT_SHOWN_CHARS ? text : `${text.slice(0, TEXT_SHOWN_CHARS)}…`;
}
