/** What a test sees of a run that has ended. */
import { messagesAt, type TranscriptMessage } from '../../client/read/transcript.js';
import type { AskKind, AskOutcome } from '../../core/state/ask-kinds.js';
import type { Json } from '../../core/json/json.js';
import type { EventBody, RunEvent } from '../../core/state/event.js';
import type { Counters, RunResult, RunStatus, StopReason } from '../../core/state/result.js';
import type { ToolResultCode } from '../../core/state/tool-result.js';
import type { Store } from '../../store/store.js';

const TENANT = 'default';

/** A call that a model asked for. */
export interface TestedCall {
  readonly id: string;
  readonly tool: string;
  /** With which it ran, else those that the model gave. */
  readonly args: Json;
  /** Name of the agent that asked for it; of a sub-agent its path, `desk/payer`. */
  readonly agent: string;
  readonly runId: string;
  /** The tool was called; false: it was refused, skipped or never reached. */
  readonly ran: boolean;
  /** `open`: the run ended before it. */
  readonly status: 'ok' | 'error' | 'skipped' | 'open';
  /** Why it did not go well. */
  readonly code?: ToolResultCode;
  /** What the model got, parsed where that is JSON. */
  readonly result?: Json;
  readonly attempts: number;
  readonly costMicroUsd: number;
}

/** A question to a person. */
export interface TestedAsk {
  readonly id: string;
  readonly kind: AskKind;
  readonly tool?: string;
  readonly args?: Json;
  readonly question?: string;
  readonly roles: readonly string[];
  readonly quorum: number;
  /** `pending`: the run ended before anybody had decided. */
  readonly outcome: AskOutcome;
  readonly by: readonly string[];
  readonly runId: string;
}

/**
 * A run that has ended, with all that its sub-agents did. `calls`, `asks` and `events` have those of a run that it handed its
 * task to as well (`run: 'new'`); the end, the answer and the cost are of the run itself.
 */
export interface TestedRun<Output = Json> {
  readonly status: RunStatus;
  readonly stopReason: StopReason;
  readonly detail?: string;
  readonly answer?: string;
  /** Typed by the `output` of the test. */
  readonly output?: Output;
  readonly calls: readonly TestedCall[];
  readonly asks: readonly TestedAsk[];
  /** Of the run and all below it. */
  readonly costMicroUsd: number;
  readonly counters: Counters;
  /** Of the run and its sub-agents, in order. */
  readonly events: readonly RunEvent[];
  /** The conversation of the run itself, oldest first. */
  readonly transcript: readonly TranscriptMessage[];
  readonly result: RunResult;
  /** Virtual ms from its start to its end. */
  readonly durationMs: number;
}

export interface EndedRun {
  readonly store: Store;
  readonly result: RunResult;
  readonly head: string | null;
  readonly tree: readonly RunEvent[];
  readonly durationMs: number;
}

export async function testedRun(ended: EndedRun): Promise<TestedRun> {
  const { store, result, head, tree, durationMs } = ended;
  const { status, stopReason, detail, answer, output, costMicroUsd, counters } = result;
  return {
    status,
    stopReason,
    ...(detail !== undefined && { detail }),
    ...(answer !== undefined && { answer: await store.getText(TENANT, answer) }),
    ...(output !== undefined && { output }),
    calls: await callsIn(store, tree),
    asks: await asksIn(store, tree),
    costMicroUsd,
    counters,
    events: tree,
    transcript: head === null ? [] : await messagesAt(store, TENANT, head),
    result,
    durationMs,
  };
}

type EventOf<Type extends EventBody['type']> = Extract<RunEvent, { readonly type: Type }>;

async function callsIn(store: Store, tree: readonly RunEvent[]): Promise<readonly TestedCall[]> {
  const agents = new Map<string, string>();
  const found = new Map<string, TestedCall>();
  for (const event of tree) {
    const { runId } = event.stamp;
    const change = (callId: string, more: Partial<TestedCall>): void => {
      const known = found.get(`${runId} ${callId}`);
      if (known !== undefined) found.set(`${runId} ${callId}`, { ...known, ...more });
    };
    switch (event.type) {
      case 'session_init':
        agents.set(runId, event.agent);
        break;
      case 'model_response':
        for (const call of await proposedIn(store, event)) {
          found.set(`${runId} ${call.id}`, { ...call, agent: agents.get(runId) ?? '', runId });
        }
        break;
      case 'tool_started':
        change(event.callId, { ran: true, args: await restored(store, event.args) });
        break;
      case 'tool_finished':
        change(event.callId, await finished(store, event));
        break;
      default:
    }
  }
  return [...found.values()];
}

async function proposedIn(
  store: Store,
  { calls, head, messageId }: EventOf<'model_response'>,
): Promise<readonly Omit<TestedCall, 'agent' | 'runId'>[]> {
  // Arguments that are too large for the event stand in its message alone.
  const node = head === undefined ? undefined : (await store.readChain(TENANT, head)).at(-1);
  const uses =
    node?.messageId === messageId ? node.blocks.filter((one) => one.type === 'tool_use') : [];
  const proposed = uses.length === 0 ? calls : uses;
  return Promise.all(
    proposed.map(async ({ id, tool, args }) => ({
      id,
      tool,
      args: await restored(store, args),
      ran: false,
      status: 'open' as const,
      attempts: 0,
      costMicroUsd: 0,
    })),
  );
}

async function finished(
  store: Store,
  { status, code, content, started, attempts, costMicroUsd = 0, tool }: EventOf<'tool_finished'>,
): Promise<Partial<TestedCall>> {
  const result = jsonOf(await store.getText(TENANT, content));
  return {
    tool,
    status,
    ...(code !== undefined && { code }),
    result,
    ran: started,
    attempts,
    costMicroUsd,
  };
}

async function asksIn(store: Store, tree: readonly RunEvent[]): Promise<readonly TestedAsk[]> {
  const found = new Map<string, TestedAsk>();
  for (const event of tree) {
    switch (event.type) {
      case 'approval_requested':
      case 'input_request':
        found.set(event.askId, await askOf(store, event));
        break;
      case 'approval_resolved':
      case 'input_provided':
        change(found, event.askId, { outcome: event.outcome, by: event.by });
        break;
      case 'approval_withdrawn':
        change(found, event.askId, { outcome: 'withdrawn' });
        break;
      default:
    }
  }
  return [...found.values()];
}

function change(found: Map<string, TestedAsk>, askId: string, more: Partial<TestedAsk>): void {
  const known = found.get(askId);
  if (known !== undefined) found.set(askId, { ...known, ...more });
}

async function askOf(
  store: Store,
  event: EventOf<'approval_requested' | 'input_request'>,
): Promise<TestedAsk> {
  const { askId: id, kind, tool, args, question, roles, quorum, stamp } = event;
  return {
    id,
    kind,
    ...(tool !== undefined && { tool }),
    ...(args !== undefined && { args: await restored(store, args) }),
    ...(question !== undefined && { question }),
    roles,
    quorum,
    outcome: 'pending',
    by: [],
    runId: stamp.runId,
  };
}

function restored(store: Store, args: Json): Promise<Json> {
  return store.restoreArguments(TENANT, args);
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
