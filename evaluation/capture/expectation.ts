/**
 * What a captured case expects: that the run ends as it did, with the same answer, cost, calls, effects, questions and
 * results.
 */
import type { StoredText } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import type { RunResult } from '../../core/state/result.js';
import { isSegmentEnd } from '../compare/segments.js';
import type { Expected } from '../fixture.js';
import { ofKind, type Recording } from './recording.js';
import type { Texts } from './texts.js';

/** Longer texts are expected by their digest. */
const TEXT_CHARS_MAX = 2_000;

const COUNTED = [
  'modelCalls',
  'turnCount',
  'proposedCalls',
  'toolCalls',
  'deniedCalls',
  'invalidCalls',
  'skippedCalls',
  'inputRequests',
  'notStartedCalls',
  'recoveryCount',
  'stopHookReentries',
  'fallbacks',
] as const;

export interface Expecting {
  readonly recording: Recording;
  readonly texts: Texts;
  readonly isPriceKnown: boolean;
}

/** Of a run that has not ended, or of the beginning of one: how it ends is not part of it. */
export function expectationOf(expecting: Expecting): Expected {
  const { recording, texts, isPriceKnown } = expecting;
  const { events } = recording.bundle;
  const result = resultIn(events);
  if (result === undefined) return progress(expecting);
  const { stopReason, detail, status, completed, phase, answer, output, counters } = result;
  const counted = Object.fromEntries(COUNTED.map((name) => [name, counters[name]]));
  return {
    stop_reason: stopReason,
    ...(detail !== undefined && { detail }),
    ...(phase !== undefined && { phase }),
    status,
    completed,
    ...(answer === undefined ? { answer: null } : ofText('answer', answer, texts)),
    ...(output !== undefined && { output: texts.value(output) }),
    ...(isPriceKnown && { cost_micro_usd: result.costMicroUsd }),
    ...progress(expecting),
    counters: counted as Expected['counters'],
    transitions: transitionsIn(events),
    model_requests: new Set(ofKind(recording, 'call_model').map(({ input }) => input.call)).size,
  };
}

function progress({ recording, texts }: Omit<Expecting, 'isPriceKnown'>): Expected {
  const { events } = recording.bundle;
  const order = events.flatMap((event) =>
    event.type === 'tool_results_message' ? [[...event.callIds]] : [],
  );
  const results = resultsIn(recording, texts);
  return {
    // What was still to be done would be done when the case is played.
    ...(isSettled(recording) && {
      // Quick reads that go elsewhere reach their tools in an order that no record tells.
      ...(!recording.wentElsewhere && { executed: executedIn(recording, texts) }),
      ...(isOrderKnown(events, order.flat()) && { result_order: order }),
    }),
    ...approvalsIn(events),
    ...(Object.keys(results).length > 0 && { results }),
    events: [
      { event: 'session_init' },
      ...events.flatMap((event): NonNullable<Expected['events']> =>
        event.type === 'model_response' ? [{ event: 'model_response' }] : [],
      ),
    ],
  };
}

export function resultIn(events: readonly RunEvent[]): RunResult | undefined {
  const last = events.at(-1);
  return last?.type === 'run_result' ? last.result : undefined;
}

const OF_OTHERS = [
  'stop_reason',
  'detail',
  'completed',
  'answer',
  'cost_micro_usd',
  'counters',
  'results',
  'result_order',
  'transitions',
  'model_requests',
] as const;

/** What the runs below did; which of their calls came first, no record of several runs tells. */
export function withRunsBelow(
  expected: Expected,
  members: readonly (Expecting & { readonly place: string })[],
): Expected {
  if (members.length === 0) return expected;
  const { executed: _, ...own } = expected;
  const runs = members.map(({ place, ...one }) => {
    const whole = expectationOf(one);
    return [
      place,
      Object.fromEntries(OF_OTHERS.flatMap((key) => (key in whole ? [[key, whole[key]]] : []))),
    ];
  });
  return { ...own, runs: Object.fromEntries(runs) as Expected['runs'] };
}

/** Every call that was proposed has its result; what is stored of a run under way may lag behind what it does. */
function isSettled({ bundle: { events }, activities }: Recording): boolean {
  if (activities.some(({ kind, end }) => kind === 'execute_tool' && end.kind === 'open'))
    return false;
  const finished = new Set(
    events.flatMap((event) => (event.type === 'tool_finished' ? [event.callId] : [])),
  );
  return events.every(
    (event) => event.type !== 'model_response' || event.calls.every(({ id }) => finished.has(id)),
  );
}

/** Of a beginning: hooks may have been about to see results that the model was not told yet. */
function isOrderKnown(events: readonly RunEvent[], told: readonly string[]): boolean {
  if (resultIn(events) !== undefined) return true;
  return events.every((event) => event.type !== 'tool_finished' || told.includes(event.callId));
}

function ofText(key: 'answer', stored: StoredText, texts: Texts): Expected {
  return { [key]: texts.text(stored) };
}

function executedIn(recording: Recording, texts: Texts): Expected['executed'] {
  const seen = new Set<string>();
  return ofKind(recording, 'execute_tool').flatMap(({ activity, input: { call } }) => {
    const name = `${call.callId} ${call.key}`;
    const { end } = activity;
    const output = end.kind === 'completed' ? (end.output as { attempts?: number }) : undefined;
    // What was never handed to the tool's code was not executed.
    if (seen.has(name) || output?.attempts === 0) return [];
    seen.add(name);
    return [{ call: call.callId, tool: call.tool, input: texts.value(call.args) }];
  });
}

function resultsIn(
  { bundle: { events }, frozen }: Recording,
  texts: Texts,
): NonNullable<Expected['results']> {
  const results = new Map<string, NonNullable<Expected['results']>[string]>();
  const servers = new Set(frozen.tools.flatMap(({ name, mcp }) => (mcp ? [name] : [])));
  for (const event of events) {
    if (event.type !== 'tool_finished' || event.hosted === true) continue;
    const { callId, status, code, synthetic } = event;
    const text = texts.text(event.content);
    // What a schema says against a result is not recorded. A server that is away is so in the words of a network, or by the hash of another description.
    const isAway = code === 'tool_unavailable' && servers.has(event.tool);
    const said =
      text === '' || synthetic || isAway || code === 'malformed_result'
        ? {}
        : shown(text, frozen.budget.maxToolResultChars);
    results.set(callId, { status, ...(code !== undefined && { code }), ...said });
  }
  return Object.fromEntries(results);
}

/** The model may be shown less of a long text, and more around any: only a whole short one is expected word for word. */
function shown(text: string, charsMax: number): { readonly contains?: string } {
  const beginning = text.slice(0, Math.min(TEXT_CHARS_MAX, charsMax));
  return beginning === '' ? {} : { contains: beginning };
}

function approvalsIn(events: readonly RunEvent[]): Pick<Expected, 'approvals'> {
  const asked = events.flatMap((event) => {
    if (event.type !== 'approval_requested') return [];
    const { callId, tool, askId } = event;
    const closing = events.find((one) => one.type === 'approval_resolved' && one.askId === askId);
    return [
      {
        ...(callId !== undefined && { call: callId }),
        ...(tool !== undefined && { tool }),
        ...(closing?.type === 'approval_resolved' && { outcome: closing.outcome }),
      },
    ];
  });
  // An empty list would say that no policy has approved anything either.
  const isSaid = asked.length > 0 && asked.every((one) => Object.keys(one).length > 0);
  return isSaid ? { approvals: asked } : {};
}

/** A segment is no part of a case, but where the run goes on under another agent. */
function transitionsIn(events: readonly RunEvent[]): NonNullable<Expected['transitions']> {
  return events.flatMap((event, index) => {
    if (event.type !== 'transition' || event.reason === 'next_turn') return [];
    return isSegmentEnd(event, events[index + 1]) ? [] : [event.reason];
  });
}
