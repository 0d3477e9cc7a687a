/** Following a run until it ends, until it needs a person, or until Ctrl-C; the run itself goes on. */
import {
  followRun,
  followTree,
  type Outcome,
  type RunHandle,
  type RunMoment,
  type TreeMoment,
} from '../../client/index.js';
import { previewOf, type StoredText } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import type { RunResult } from '../../core/state/result.js';
import {
  isStoppedByPerson,
  knownAfter,
  nextActionAfter,
  NOTHING_KNOWN,
} from '../../pure/next-action.js';
import type { CommandHints } from '../desk/actor.js';
import { endedIn, TENANT } from '../desk/run-record.js';
import { EXIT, exitCodeOfResult } from '../exit-code.js';
import { onInterrupt } from './interrupt.js';
import type { Output } from './output.js';
import { approvalCard, inertLines, resultBlock, shellWord } from '../render/index.js';
import type { Session } from '../session.js';
import { eventPrinter, type Askable, type CardLooks } from './event-printer.js';

export interface FollowOptions {
  readonly since?: number;
  /** Also events that only say that things go their way. */
  readonly all?: boolean;
  /** Also what models say, while they say it. */
  readonly tokens?: boolean;
}

const ASKS_MAX = 200;
/** The answer is one of the last events before the wait. */
const ANSWER_WITHIN_EVENTS = 50;
const ANSWER_CHARS_MAX = 20_000;
/** The server's clock may be ahead of or behind ours. */
const CLOCK_SKEW_MS = 5_000;

interface Printing {
  readonly session: Session;
  readonly output: Output;
}

interface Following extends Printing {
  /** Follows the sub-agents below the run too. */
  readonly handle?: (runId: string) => RunHandle;
  /** How commands that answer a question look here. */
  readonly hints: () => Promise<CommandHints>;
}

/** Sub-agents of one run that are followed. */
const CHILDREN_MAX = 50;

/** Prints events as they happen and the result at the end; gives the exit code. */
export async function followEvents(
  run: RunHandle,
  { session, output, handle, hints }: Following,
  options: FollowOptions = {},
): Promise<number> {
  const interrupt = onInterrupt();
  try {
    const { since = 0 } = options;
    const isStored = (await session.store()) !== undefined;
    const following = { since, signal: interrupt.signal };
    const live = options.tokens === true && isStored;
    const moments =
      handle !== undefined && isStored
        ? treeOf(run, { ...following, handle, ...(live && { tokens: {} }) })
        : ownOf(run, live ? followRun(run, following) : eventsOnly(run, following));
    const askable = await stillAskable(run.runId, session);
    const printer = eventPrinter(output, { askable, all: options.all === true });
    let result: RunResult | undefined;
    let looks: CardLooks | undefined;
    for await (const moment of moments) {
      if (!output.json && looks === undefined && printer.asks(moment))
        looks = await cardLooks(hints, output);
      const told = printer.print(moment, looks);
      if (told?.type === 'run_result' && moment.of.depth === 0) result = told.result;
    }
    if (interrupt.signal.aborted) return sayItGoesOn(run.runId, output);
    // A run that never opened, or was ended from outside, has no result event but an error.
    const ended = result ?? (await run.result());
    await printResult(ended, { session, output });
    return exitCodeOfResult(ended);
  } finally {
    interrupt.release();
  }
}

/** What has to be done before the commands work is said once. */
async function cardLooks(hints: Following['hints'], output: Output): Promise<CardLooks> {
  const { first, ...looks } = await hints();
  if (first !== undefined) output.remark(first);
  return looks;
}

interface Watched {
  readonly since: number;
  readonly signal: AbortSignal;
}

interface WatchedTree extends Watched {
  readonly handle: (runId: string) => RunHandle;
  readonly tokens?: { readonly own?: { readonly after?: string } };
}

/** Of the run itself from `since` on; what is before only tells where sub-agents are. */
async function* treeOf(
  run: RunHandle,
  { since, signal, handle, tokens }: WatchedTree,
): AsyncGenerator<TreeMoment, void, undefined> {
  const isRoot = (runId: string): boolean => runId === run.runId;
  const options = {
    handle: (runId: string) => (isRoot(runId) ? run : handle(runId)),
    seen: (runId: string) => (isRoot(runId) ? since - 1 : -1),
    childrenMax: CHILDREN_MAX,
    signal,
    ...(tokens !== undefined && { tokens }),
  };
  for await (const moment of followTree(run.runId, options)) {
    const { kind, of } = moment;
    if (kind === 'event' && of.depth === 0 && moment.event.stamp.seq < since) continue;
    yield moment;
  }
}

async function* ownOf(
  { runId }: RunHandle,
  moments: AsyncGenerator<RunMoment>,
): AsyncGenerator<TreeMoment, void, undefined> {
  const of = { runId, depth: 0 };
  for await (const moment of moments) yield { ...moment, of };
}

async function* eventsOnly(
  run: RunHandle,
  following: Watched,
): AsyncGenerator<RunMoment, void, undefined> {
  for await (const event of run.events(following)) yield { kind: 'event', event };
}

/** Waits for the result, or for the moment in which a person is needed; gives the exit code. */
export async function awaitOutcome(
  run: RunHandle,
  { session, output, hints }: Following,
): Promise<number> {
  const interrupt = onInterrupt();
  try {
    const outcome = await run.outcome({ signal: interrupt.signal }).catch((error: unknown) => {
      if (interrupt.signal.aborted) return undefined;
      throw error;
    });
    if (outcome === undefined) return sayItGoesOn(run.runId, output);
    output.data(outcomeData(run.runId, outcome));
    if (outcome.kind === 'ended') {
      await printResult(outcome.result, { session, output });
      return exitCodeOfResult(outcome.result);
    }
    if (outcome.status === 'awaiting_user') await printLastAnswer(run, { session, output });
    const { first, ...looks } = await hints();
    for (const ask of outcome.asks) {
      const shown = { runId: ask.runId ?? run.runId, now: Date.now(), paint: output.paint };
      output.line(approvalCard(ask, { ...shown, ...looks }));
    }
    if (first !== undefined) output.remark(first);
    output.remark(
      `The run waits for a person. Answer with a command above; follow it with: holdfast watch ${shellWord(run.runId)}`,
    );
    return EXIT.waiting;
  } finally {
    interrupt.release();
  }
}

/** What a conversation said before it began to wait for its user. */
async function printLastAnswer(run: RunHandle, { session, output }: Printing): Promise<void> {
  if (output.json) return;
  const store = await session.store();
  const last = (await store?.getRun('default', run.runId))?.lastSeq ?? 0;
  let text: StoredText | undefined;
  const since = Math.max(0, last - ANSWER_WITHIN_EVENTS);
  for await (const event of run.events({ since, untilNow: true })) {
    if (event.type === 'model_response') text = event.text ?? text;
  }
  if (text === undefined) return;
  const whole = await store?.getText('default', text).catch(() => undefined);
  for (const line of inertLines(whole ?? previewOf(text), ANSWER_CHARS_MAX)) output.line(line);
  output.line('');
}

function outcomeData(runId: string, outcome: Outcome): unknown {
  return outcome.kind === 'ended'
    ? { runId, status: outcome.result.status, result: outcome.result }
    : { runId, status: outcome.status, asks: outcome.asks };
}

/** A question that was answered before anybody watched needs no card. */
async function stillAskable(runId: string, session: Session): Promise<Askable> {
  const watchedFrom = Date.now();
  const store = await session.store();
  if (store === undefined) return () => true;
  const open = await store.listAsks('default', {
    under: runId,
    pendingOnly: true,
    limit: ASKS_MAX,
  });
  const ids = new Set(open.map(({ askId }) => askId));
  return ({ askId, stamp }) => ids.has(askId) || stamp.at >= watchedFrom - CLOCK_SKEW_MS;
}

/** The result, with what is seen of the run. */
interface Ending extends Printing {
  readonly tenant?: string;
  /** Where the store is not at hand; with the first one they tell all. */
  readonly events?: readonly RunEvent[];
}

/** Prints the result with its whole answer, when that lies in the store. */
export async function printResult(result: RunResult, ending: Ending): Promise<void> {
  const { session, output } = ending;
  if (output.json) return;
  const answer = await wholeAnswer(result, session);
  const next = await nextAction(result, ending);
  output.line('');
  output.line(
    resultBlock(result, {
      paint: output.paint,
      ...(answer !== undefined && { answer }),
      ...(next !== undefined && { next }),
    }),
  );
}

/** undefined: nobody knows more than the result. */
async function nextAction(
  result: RunResult,
  { session, tenant = TENANT, events = [] }: Ending,
): Promise<string | undefined> {
  if (!isStoppedByPerson(result)) return undefined;
  const { runId } = result;
  const known =
    events[0]?.type === 'session_init'
      ? events.reduce(knownAfter, NOTHING_KNOWN)
      : await session
          .store()
          .then((store) => store && endedIn(store, { tenant, runId }))
          .catch(() => undefined);
  return known && nextActionAfter(result, known);
}

async function wholeAnswer(result: RunResult, session: Session): Promise<string | undefined> {
  if (result.answer === undefined) return undefined;
  if ('text' in result.answer) return result.answer.text;
  const store = await session.store();
  // Its first characters are in the result itself.
  return store?.getText('default', result.answer).catch(() => undefined);
}

function sayItGoesOn(runId: string, output: Output): number {
  const id = shellWord(runId);
  output.remark(
    `\nNo longer following; the run goes on. Watch it: holdfast watch ${id} – stop it: holdfast interrupt ${id}`,
  );
  return EXIT.interrupted;
}
