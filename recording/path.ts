/**
 * The path of a run: what it was given and what it decided, in one order, without what differs between any two runs
 * (ids, times, keys). Two runs are compared by their paths.
 * Invariants: within a turn, what belongs to one call stands together in the order of the calls, because the order in
 * which parallel calls end is no decision; an event that this release does not know is compared whole.
 */
import type { Json } from '../core/json/json.js';
import type { RunEvent } from '../core/state/event.js';
import { explainRun } from '../pure/explain.js';
import { inCallOrder } from './call-order.js';

export interface PathEntry {
  readonly seq: number;
  readonly turn: number;
  readonly type: RunEvent['type'];
  /** From outside, or by a rule. */
  readonly side: 'given' | 'decided';
  /** The rule that emitted it; absent: a fact told it. */
  readonly rule?: string;
  /** What was done: tools, arguments, permissions, outcomes, ends. */
  readonly action: Json;
  /** What was said, and what it cost. */
  readonly words: Json;
  /** One line for people. */
  readonly says: string;
}

/** What ids stand for within one run. */
interface Names {
  readonly calls: Map<string, string>;
}

type Facts = Pick<PathEntry, 'side' | 'action'> & { readonly words?: Json };

const QUOTE_CHARS = 300;

/** Of events that come one by one. */
export interface PathReader {
  event(event: RunEvent): void;
  /** Behind the last event. */
  end(): void;
}

/** `heard` is given the entries in order; those about calls when an event about none follows them. */
export function pathReader(heard: (entry: PathEntry) => void): PathReader {
  const names: Names = { calls: new Map() };
  const { entry: ordered, flush } = inCallOrder(heard);
  return {
    event(event) {
      if (event.type === 'model_response') nameCalls(names, event);
      const facts = factsOf(names, event);
      if (facts === undefined) return;
      const { seq, turn, rule } = event.stamp;
      const { words = null, ...rest } = facts;
      const call = 'callId' in event ? names.calls.get(event.callId ?? '') : undefined;
      const entry: PathEntry = {
        seq,
        turn,
        type: event.type,
        ...rest,
        words,
        ...(rule !== undefined && { rule }),
        says: sayingOf(event),
      };
      ordered(entry, call);
    },
    end: flush,
  };
}

type Of<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

function nameCalls({ calls }: Names, { call, calls: proposed }: Of<'model_response'>): void {
  for (const [index, { id }] of proposed.entries()) calls.set(id, `${call}.${index + 1}`);
}

/** Where a segment ends is no deed: a run whose question was answered at once had no reason to end one. */
function transitionFacts({
  reason,
}: Extract<RunEvent, { readonly type: 'transition' }>): Facts | undefined {
  return reason === 'continued_as_new' ? undefined : { side: 'decided', action: { reason } };
}

function factsOf(names: Names, event: RunEvent): Facts | undefined {
  const call = 'callId' in event ? (names.calls.get(event.callId ?? '') ?? null) : null;
  switch (event.type) {
    case 'session_init':
      return beginningFacts(event);
    case 'user_message':
      return { side: 'given', action: null, words: json(event.text) };
    case 'model_response': {
      const { calls, stopReason, text = null, costMicroUsd, model } = event;
      const proposed = calls.map(({ tool, args }) => ({ tool, args }));
      return {
        side: 'given',
        action: { proposed, stopReason },
        words: json({ text, costMicroUsd, model }),
      };
    }
    case 'run_result': {
      const {
        stopReason,
        status,
        answer = null,
        partialOutput = null,
        costMicroUsd,
      } = event.result;
      return {
        side: 'decided',
        action: { stopReason, status },
        words: json({ answer, partialOutput, costMicroUsd }),
      };
    }
    case 'stop': {
      const { reason, detail = null, phase = null } = event;
      return { side: 'decided', action: { reason, detail, phase } };
    }
    case 'transition':
      return transitionFacts(event);
    case 'compact_boundary':
      return { side: 'decided', action: { trigger: event.trigger } };
    case 'retry':
    case 'model_error':
      return { side: 'given', action: { class: event.class } };
    case 'interruption':
      return { side: 'given', action: { by: event.by } };
    case 'supervision':
      return lookFacts(event);
    case 'warning':
      return { side: 'decided', action: { code: event.code }, words: event.message };
    case 'tombstone':
      return { side: 'decided', action: null, words: event.reason };
    case 'tool_results_message':
    case 'decision_recorded':
      return undefined;
    case 'hook': {
      const { name, hook, outcome, tool = null, message = null } = event;
      return { side: 'given', action: { name, hook, outcome, tool, call }, words: message };
    }
    default:
      return callFacts(event, call);
  }
}

/** In which order tools are declared decides nothing; the versions among the words tell of it. */
function beginningFacts(event: Extract<RunEvent, { readonly type: 'session_init' }>): Facts {
  const { agent, tools, model, goal, versions } = event;
  const action = { agent, tools: tools.toSorted() };
  return { side: 'given', action, words: json({ model, goal, versions }) };
}

function lookFacts(event: Extract<RunEvent, { readonly type: 'supervision' }>): Facts {
  const { number, supervisor, decision, because, text = null, costMicroUsd } = event;
  const action = { number, supervisor, decision };
  return { side: 'given', action, words: json({ because, text, costMicroUsd }) };
}

function callFacts(event: RunEvent, call: string | null): Facts | undefined {
  switch (event.type) {
    case 'validation': {
      const { decision, tool = null, code = null, message = null } = event;
      return { side: 'decided', action: { call, decision, tool, code }, words: message };
    }
    case 'permission': {
      const { tool, decision, rule, reason = null } = event;
      return { side: 'decided', action: { call, tool, decision, by: rule }, words: reason };
    }
    case 'approval_requested':
    case 'input_request': {
      const { kind, tool = null, roles } = event;
      return { side: 'decided', action: { call, kind, tool, roles } };
    }
    case 'approval_resolved': {
      const { outcome, tool = null, corrected = null, reason = null } = event;
      return { side: 'given', action: json({ call, tool, outcome, corrected }), words: reason };
    }
    case 'input_provided':
      return { side: 'given', action: { call, outcome: event.outcome } };
    case 'approval_escalated':
      return { side: 'decided', action: { call, roles: event.roles } };
    case 'approval_withdrawn':
      return { side: 'decided', action: { call, withdrawn: true }, words: event.reason };
    case 'tool_started':
      return { side: 'decided', action: { call, tool: event.tool, args: event.args } };
    case 'tool_finished': {
      const { tool, status, code = null, content, synthetic, costMicroUsd = 0 } = event;
      return {
        side: synthetic ? 'decided' : 'given',
        action: { call, tool, status, code },
        words: json({ content, costMicroUsd }),
      };
    }
    case 'tool_reconciled':
      return { side: 'given', action: { call, tool: event.tool, finding: event.finding } };
    default: {
      const { stamp: _, ...body } = event;
      return { side: 'decided', action: { type: body.type }, words: json(body) };
    }
  }
}

function sayingOf(event: RunEvent): string {
  switch (event.type) {
    case 'model_response': {
      const calls = event.calls.map(({ tool, args }) => `${tool} ${JSON.stringify(args)}`);
      const text = event.text === undefined ? '' : ` “${storedText(event.text)}”`;
      return `the model ${calls.length === 0 ? 'answered' : `proposed ${calls.join(', ')}`}${text}`;
    }
    case 'tool_started':
      return `called ${event.tool} ${JSON.stringify(event.args)}`.slice(0, 2 * QUOTE_CHARS);
    case 'tool_finished': {
      const how = event.code ?? event.status;
      return `${event.tool}: ${how} “${storedText(event.content)}”`;
    }
    case 'run_result':
      return `ended with ${event.result.stopReason}`;
    default:
      return explainRun([event])[0]?.words ?? event.type.replaceAll('_', ' ');
  }
}

function storedText(stored: { readonly text: string } | { readonly preview: string }): string {
  return ('text' in stored ? stored.text : stored.preview).slice(0, QUOTE_CHARS);
}

function json(value: unknown): Json {
  return value as Json;
}
