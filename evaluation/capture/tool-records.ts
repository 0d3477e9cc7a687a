/**
 * What the tools of a recorded run were asked and answered, as the tools of a case.
 * Invariant: a tool of the case answers what the record has, call by call, and refuses the rest.
 */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { ElsewhereReason, OutputOf, ToolCallRef } from '../../core/state/effect.js';
import type { Finding } from '../../core/state/recovery.js';
import type { ToolRecord } from '../../core/state/tool.js';
import { INTERRUPTED_CODES } from '../../core/state/tool-result.js';
import type { WrittenTool } from '../convert-tools.js';
import type { WrittenResult } from '../format/tools.js';
import type { FixtureDocument } from '../format/document.js';
import { approvalOf } from './approval.js';
import { hostedTool } from './hosted-tools.js';
import { ofKind, outputOf, type Activity, type Recording } from './recording.js';
import { refused } from './refused.js';
import { askedAnew, questionIn, servedDeclaration, serverAway } from './served-tools.js';
import type { Texts } from './texts.js';

type ToolOutcome = OutputOf<'execute_tool'>['outcome'];

export interface CapturedTools {
  readonly tools: Readonly<Record<string, WrittenTool>>;
  /** Servers that were away, or described a tool otherwise. */
  readonly during: NonNullable<FixtureDocument['during']>;
  /** In words: what of the record the tools do not say. */
  readonly leftOut: readonly string[];
}

export function toolRecords(recording: Recording, texts: Texts, isSlow: boolean): CapturedTools {
  const attempts = new Attempts();
  const leftOut: string[] = [];
  const during: NonNullable<FixtureDocument['during']>[number][] = [];
  const exchanges = { texts, isRedacted: recording.bundle.redactions.length > 0 };
  for (const { activity, input } of ofKind(recording, 'execute_tool')) {
    const { tool, args, callId } = input.call;
    const record = recording.frozen.tools.find(({ name }) => name === tool);
    const away = record && serverAway(record, activity, input.call);
    if (away !== undefined) {
      during.push(...away);
      continue;
    }
    const answer = answerOf({ recording, activity, texts, call: input.call });
    if (answer === undefined) continue;
    if (answer.leftOut !== undefined) leftOut.push(`call ${callId}: ${answer.leftOut}`);
    const delay = isSlow ? { delayMs: activity.tookMs } : {};
    const result = { ...answer.result, ...delay } as WrittenResult;
    const asked = askedAnew(input.call, exchanges);
    for (const one of [...asked, result])
      attempts.add({ tool, callId, input: texts.value(args) }, one);
  }
  const offers = recording.root.tools ?? [];
  const tools = recording.frozen.tools.map((record): [string, WrittenTool] => {
    const offer = offers.find(({ name }) => name === record.name);
    const said = {
      description: offer?.description ?? '',
      inputSchema: (offer?.inputSchema ?? {}) as WrittenTool['inputSchema'],
    };
    if (record.kind === 'hosted')
      return [record.name, hostedTool(recording, record, { ...said, texts })];
    return [record.name, { ...said, ...declared(record), recorded: attempts.of(record.name) }];
  });
  return { tools: Object.fromEntries(tools), during, leftOut };
}

/** Results by call: a call that is tried again with the same arguments answers with the next one. */
class Attempts {
  private readonly byTool = new Map<
    string,
    { callId: string; input: Json; results: WrittenResult[] }[]
  >();

  add(call: { tool: string; callId: string; input: Json }, result: WrittenResult): void {
    const known = this.byTool.get(call.tool) ?? [];
    this.byTool.set(call.tool, known);
    const same = known.find(
      ({ callId, input }) =>
        callId === call.callId && canonicalJson(input) === canonicalJson(call.input),
    );
    if (same === undefined)
      known.push({ callId: call.callId, input: call.input, results: [result] });
    else same.results.push(result);
  }

  of(tool: string): NonNullable<WrittenTool['recorded']> {
    return (this.byTool.get(tool) ?? []).map(({ input, results }) => ({ input, results }));
  }
}

function declared(record: ToolRecord): Omit<WrittenTool, 'recorded'> {
  const { kind, approval, version, timeoutMs, sandbox, onLost, maxCostMicroUsd } = record;
  if (record.mcp !== undefined) return servedDeclaration(record);
  return {
    ...(kind !== 'tool' && { kind }),
    effect: record.effect,
    idempotency: record.idempotency,
    ...(version !== '1' && { version }),
    approval: approvalOf(approval),
    ...(record.concurrencySafe && { concurrencySafe: true }),
    ...(record.quick && { quick: true }),
    ...(sandbox !== undefined && sandbox !== 'none' && { sandbox }),
    timeoutMs,
    // Tools of a case have no probe: what a probe told stands in the record.
    ...(onLost !== undefined && onLost !== 'probe' && { onLost }),
    ...(maxCostMicroUsd !== undefined && { maxCostMicroUsd }),
    ...(record.answeredBy !== undefined && { answeredBy: answeredBy(record.answeredBy) }),
  } as Omit<WrittenTool, 'recorded'>;
}

function answeredBy(rule: NonNullable<ToolRecord['answeredBy']>): WrittenTool['answeredBy'] {
  return typeof rule === 'string' ? rule : { roles: [...rule.roles] };
}

interface Asked {
  readonly recording: Recording;
  readonly activity: Activity;
  readonly texts: Texts;
  readonly call: ToolCallRef;
}

interface Answer {
  readonly result: WrittenResult;
  readonly leftOut?: string;
}

/** Undefined: the tool was not asked, or what it said is not known. */
function answerOf(asked: Asked): Answer | undefined {
  const { activity } = asked;
  const { end } = activity;
  const output = outputOf(activity, 'execute_tool');
  if (output !== undefined) return ofOutcome(asked, output);
  switch (end.kind) {
    case 'open':
      return { result: { hang: true } };
    case 'cancelled':
      return { result: { hang: true } };
    case 'lost':
      return inDoubt(asked, 'The worker of the call was lost.');
    default:
      return end.kind === 'failed' && end.type !== 'NotServed'
        ? inDoubt(asked, end.message)
        : undefined;
  }
}

function ofOutcome(
  asked: Asked,
  { outcome, costMicroUsd }: OutputOf<'execute_tool'>,
): Answer | undefined {
  switch (outcome.kind) {
    case 'ok': {
      const cost = costMicroUsd !== undefined && costMicroUsd > 0 ? { costMicroUsd } : {};
      return {
        result: { ok: valueOf(asked.texts.text(outcome.content), outcome.content), ...cost },
      };
    }
    case 'error':
      return ofError(outcome);
    case 'ambiguous':
      if (outcome.aborted === true) return { result: { hang: true } };
      return inDoubt(asked, outcome.message);
    case 'repeats':
      throw refused('a call repeated an earlier effect, and only a store knows earlier effects');
    case 'key_conflict':
      throw refused('the key of a call was taken by another call');
    case 'input_required': {
      const isRedacted = asked.recording.bundle.redactions.length > 0;
      const result = questionIn(outcome, asked.call, { texts: asked.texts, isRedacted });
      return result && { result };
    }
    case 'schema_changed':
      return undefined;
    case 'elsewhere':
      return ofElsewhere(outcome.reason);
  }
}

/** A quick attempt without an answer: the next one follows. */
function ofElsewhere(reason: ElsewhereReason): Answer | undefined {
  if (reason === 'timeout') return { result: { hang: true } };
  if (reason === 'failed') return { result: { retryable_error: 'The tool failed.' } };
  return undefined;
}

function ofError(outcome: Extract<ToolOutcome, { kind: 'error' }>): Answer | undefined {
  const { code, message } = outcome;
  if (INTERRUPTED_CODES.includes(code)) return { result: { hang: true } };
  switch (code) {
    case 'execution_error':
      return { result: { error: message } };
    case 'retryable_error':
      return { result: { retryable_error: message } };
    case 'timeout':
      return { result: { timeout: true } };
    case 'tool_unavailable':
      return { result: { error: message.replace(/^tool_unavailable: /, ''), code } };
    case 'not_executed':
      return undefined;
    default:
      throw refused(`a tool ended with ${code}, which no tool of a case can say`);
  }
}

/** What was found out without a person stands in place of the doubt; else the case has the doubt, and the person. */
function inDoubt(asked: Asked, message: string): Answer | undefined {
  const found = findingOf(asked);
  if (found === undefined || found.kind === 'unknown' || found.kind === 'repeat') {
    return { result: { throws: message } };
  }
  const leftOut = 'nobody heard how an attempt ended; the case has what was found out of it';
  if (found.kind === 'not_happened') return undefined;
  if (found.source === 'person') return { result: { throws: message } };
  if (found.malformed !== undefined) throw refused('a result did not fit its output schema');
  return { result: { ok: valueOf(asked.texts.text(found.content), found.content) }, leftOut };
}

function findingOf({ recording, activity, call: { callKey } }: Asked): Finding | undefined {
  const later = ofKind(recording, 'reconcile_tool').find(
    ({ activity: { from }, input }) => from > activity.from && input.call.callKey === callKey,
  );
  return later && outputOf(later.activity, 'reconcile_tool')?.finding;
}

/** A text that is exactly the JSON of a value is the value: output schemas and evidence look into it. */
export function valueOf(text: string, stored: { readonly json?: true }): Json {
  const value = parsed(text);
  if (value === undefined) return text;
  return stored.json === true || typeof value === 'object' ? value : text;
}

function parsed(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}
