/** Hand-made cases and observations: a run that reads an order and answers, and whatever a test changes of it. */
import type { EventBody, RunEvent } from '../../core/state/event.js';
import type { Counters, RunResult } from '../../core/state/result.js';
import type { Observation, SeenExecution, SeenMessage } from '../../evaluation/engine.js';
import type { Fixture } from '../../evaluation/fixture.js';
import { parseFixture } from '../../evaluation/read-fixture.js';

export const FILE = 'case.json';

/** A case as it would be written, read as the command reads it. */
export function caseOf(document: object): Fixture {
  return parseFixture(JSON.stringify({ case_id: 'c1', ...document }), FILE);
}

export function expecting(expected: object, rest: object = {}): Fixture {
  return caseOf({ model: [READ_ORDER, { text: 'It shipped.' }], ...rest, expected });
}

export const READ_ORDER = {
  calls: [{ id: 'a', tool: 'read_order', input: { orderId: 'O-1' } }],
};

export const RUN_ID = 'run_0123456789';

/** Events with their stamps: gap-free, one ms apart, all of one step unless said otherwise. */
export function eventsOf(
  bodies: readonly (EventBody & { readonly step?: number })[],
): readonly RunEvent[] {
  return bodies.map(({ step = 0, ...body }, seq) => ({
    ...(body as EventBody),
    stamp: {
      seq,
      runId: RUN_ID,
      traceId: `${RUN_ID}-trace`,
      at: 1_000 + seq,
      phase: 'awaiting_model',
      step,
      turn: 0,
    },
  }));
}

const COUNTERS: Counters = {
  modelCalls: 2,
  turnCount: 2,
  step: 1,
  proposedCalls: 1,
  toolCalls: 1,
  toolAttempts: 1,
  deniedCalls: 0,
  invalidCalls: 0,
  skippedCalls: 0,
  inputRequests: 0,
  notStartedCalls: 0,
  recoveryCount: 0,
  compactions: { proactive: 1, reactive: 0 },
  stopHookReentries: 0,
  fallbacks: 0,
  usage: { input: 2_000, output: 200, cacheRead: 10, cacheWrite: 5 },
  costMicroUsd: 9_000,
  activeMs: 120,
  waitingMs: 0,
};

export function resultWith(changes: Partial<RunResult> = {}, events = 0): RunResult {
  return {
    runId: RUN_ID,
    status: 'completed',
    stopReason: 'completed',
    detail: 'final_answer',
    completed: true,
    answer: { text: 'It shipped.' },
    usage: COUNTERS.usage,
    costMicroUsd: COUNTERS.costMicroUsd,
    counters: COUNTERS,
    versions: {},
    trace: { runId: RUN_ID, traceId: `${RUN_ID}-trace`, events },
    ...changes,
  };
}

export function countersWith(changes: Partial<Counters>): Counters {
  return { ...COUNTERS, ...changes };
}

export const INIT: EventBody = {
  type: 'session_init',
  agent: 'case',
  taskId: 'c1',
  goal: { text: 'Handle the case.' },
  model: 'm',
  tools: ['read_order'],
  versions: {},
};

export function response(
  calls: readonly { id: string; tool: string; args?: object }[],
  text?: string,
): EventBody {
  return {
    type: 'model_response',
    call: 1,
    messageId: `${RUN_ID}:m1`,
    ...(text !== undefined && { text: { text } }),
    calls: calls.map(({ id, tool, args }) => ({
      id,
      tool,
      args: (args ?? { orderId: 'O-1' }) as never,
    })),
    stopReason: calls.length > 0 ? 'tool_use' : 'end_turn',
    model: 'm',
    usage: { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0 },
    costMicroUsd: 4_500,
  };
}

export function permission(callId: string, tool: string, rule = 'tool'): EventBody {
  return { type: 'permission', callId, tool, decision: 'allow', rule };
}

export function started(callId: string, tool: string): EventBody {
  return { type: 'tool_started', callId, tool, key: 'c1:0', args: { orderId: 'O-1' } };
}

export function finished(
  callId: string,
  tool: string,
  changes: Partial<Extract<EventBody, { type: 'tool_finished' }>> = {},
): EventBody {
  return {
    type: 'tool_finished',
    callId,
    tool,
    status: 'ok',
    content: { text: 'shipped on Monday' },
    synthetic: false,
    started: true,
    attempts: 1,
    durationMs: 3,
    key: 'c1:0',
    ...changes,
  };
}

export const RESULTS_MESSAGE: EventBody = {
  type: 'tool_results_message',
  messageId: `${RUN_ID}:m2`,
  callIds: ['a'],
};

export const READING: readonly EventBody[] = [
  INIT,
  response([{ id: 'a', tool: 'read_order' }]),
  { type: 'validation', decision: 'execute', callId: 'a', tool: 'read_order' },
  permission('a', 'read_order'),
  started('a', 'read_order'),
  finished('a', 'read_order'),
  RESULTS_MESSAGE,
  { type: 'transition', reason: 'next_turn' },
];

/** The events of a whole run: what happens, then how it ends. */
export function runOf(happens: readonly EventBody[], result = resultWith()): readonly RunEvent[] {
  const stop: EventBody = { type: 'stop', reason: result.stopReason };
  const whole = { ...result, trace: { ...result.trace, events: validated(happens).length + 2 } };
  return eventsOf([...validated(happens), stop, { type: 'run_result', result: whole }]);
}

/** What a reply proposes is found in order right after it, where the case does not say when. */
function validated(happens: readonly EventBody[]): readonly EventBody[] {
  const said = new Set(happens.map((one) => (one.type === 'validation' ? one.callId : undefined)));
  return happens.flatMap((one) => {
    if (one.type !== 'model_response') return [one];
    const unsaid = one.calls.filter(({ id }) => !said.has(id));
    return [
      one,
      ...unsaid.map(({ id, tool }): EventBody => ({
        type: 'validation',
        decision: 'execute',
        callId: id,
        tool,
      })),
    ];
  });
}

export const EXECUTION: SeenExecution = {
  callId: 'a',
  tool: 'read_order',
  key: 'c1:0',
  input: { orderId: 'O-1' },
  sandbox: false,
  attempts: 1,
  startedAt: 10,
  endedAt: 20,
};

export function message(
  letter: SeenMessage['letter'],
  changes: Partial<SeenMessage> = {},
): SeenMessage {
  return {
    letter,
    messageId: `${RUN_ID}:m0`,
    text: letter === 'R' ? '' : 'text',
    calls: [],
    results: [],
    synthetic: false,
    partial: false,
    ...changes,
  };
}

export const CONVERSATION: readonly SeenMessage[] = [
  message('U', { text: 'Handle the case.' }),
  message('A', { calls: [{ id: 'a', tool: 'read_order', args: { orderId: 'O-1' } }], text: '' }),
  message('R', { results: [{ id: 'a', isError: false, text: 'shipped on Monday' }] }),
  message('A', { text: 'It shipped.' }),
];

export function observationWith(changes: Partial<Observation> = {}): Observation {
  const answer: readonly EventBody[] = [
    response([], 'It shipped.'),
    { type: 'validation', decision: 'final' },
  ];
  return {
    result: resultWith(),
    events: runOf([...READING, ...answer]),
    transcript: CONVERSATION,
    requests: [
      {
        model: 'm',
        maxTokens: 16_384,
        tools: ['read_order'],
        system: 'You handle cases.',
        messages: CONVERSATION.slice(0, 1),
      },
      {
        model: 'm',
        maxTokens: 16_384,
        tools: [],
        system: 'You handle cases.',
        messages: CONVERSATION.slice(0, 3),
      },
    ],
    executions: [EXECUTION],
    effects: { read_order: 1 },
    maxInFlight: 1,
    violations: [],
    persisted: 0,
    resumedWith: [],
    tookMs: 5,
    ...changes,
  };
}

/** An observation of a run in which this happened. */
export function happened(
  happens: readonly EventBody[],
  changes: Partial<Observation> = {},
): Observation {
  const result = changes.result ?? resultWith();
  return observationWith({ ...changes, events: runOf(happens, result) });
}
