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
import { briefOf } from './cycle.js';
import { askedAnew, questionIn, servedDeclaration, serverAway } from './served-tools.js';
import type { Texts } from './texts.js';
import { allOf, employedIn, isLetters, isOwnTool, type Tree } from './tree.js';

type ToolOutcome = OutputOf<'execute_tool'>['outcome'];

export interface CapturedTools {
  readonly tools: Readonly<Record<string, WrittenTool>>;
  /** Servers that were away, or described a tool otherwise. */
  readonly during: NonNullable<FixtureDocument['during']>;
  /** In words: what of the record the tools do not say. */
  readonly leftOut: readonly string[];
}

export function toolRecords(tree: Tree, texts: Texts, isSlow: boolean): CapturedTools {
  const attempts = new Attempts();
  const all = allOf(tree).map(({ place, recording }) =>
    answersIn({ recording, place, texts, isSlow }, attempts),
  );
  return {
    tools: Object.fromEntries(declarationsIn(tree, texts, attempts)),
    during: all.flatMap(({ during }) => during),
    leftOut: all.flatMap(({ leftOut }) => leftOut),
  };
}

interface Answering {
  readonly recording: Recording;
  readonly place: string;
  readonly texts: Texts;
  readonly isSlow: boolean;
}

function answersIn(
  { recording, place, texts, isSlow }: Answering,
  attempts: Attempts,
): Omit<CapturedTools, 'tools'> {
  const leftOut: string[] = [];
  const during: NonNullable<FixtureDocument['during']>[number][] = [];
  const exchanges = { texts, isRedacted: recording.bundle.redactions.length > 0 };
  const known = employedIn(recording).flatMap(({ frozen }) => frozen.tools);
  for (const { activity, input } of ofKind(recording, 'execute_tool')) {
    const { tool, args, callId } = input.call;
    const record = known.find(({ name }) => name === tool);
    if (record !== undefined && isLetters(record)) continue;
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
      attempts.add({ tool, callId, input: texts.value(args), place }, one);
  }
  return { during, leftOut };
}

/** Each tool of the tree once, as the first run that had it was told of it. */
function* declarationsIn(
  tree: Tree,
  texts: Texts,
  attempts: Attempts,
): Generator<[string, WrittenTool]> {
  const seen = new Map<string, string>();
  for (const { recording } of allOf(tree)) {
    for (const { frozen, root } of employedIn(recording)) {
      for (const record of frozen.tools) {
        if (isOwnTool(record)) continue;
        const { name, version } = record;
        const known = seen.get(name);
        if (known !== undefined && known !== version)
          throw refused(`its runs had two versions of the tool ${name}`);
        if (known !== undefined) continue;
        seen.set(name, version);
        const offer = (root.tools ?? []).find((one) => one.name === name);
        const said = {
          description: offer?.description ?? '',
          inputSchema: (offer?.inputSchema ?? {}) as WrittenTool['inputSchema'],
        };
        if (isLetters(record)) yield [name, {}];
        else if (record.kind === 'hosted')
          yield [name, hostedTool(recording, record, { ...said, texts })];
        else if (record.startsAgent !== undefined)
          yield [name, startingTool(tree, record, { ...said, texts })];
        else yield [name, { ...said, ...declared(record), recorded: attempts.of(name) }];
      }
    }
  }
}

/** An agent as a tool: the task that it made of each of its arguments is the one that its run had. */
function startingTool(
  tree: Tree,
  { name, version }: ToolRecord,
  { texts, ...said }: Pick<WrittenTool, 'description' | 'inputSchema'> & { readonly texts: Texts },
): WrittenTool {
  const tasks = allOf(tree).flatMap(({ recording }) =>
    ofKind(recording, 'prepare_child').flatMap(({ activity, input }) => {
      const child = tree.members.find((one) => one.recording.bundle.run.runId === input.child);
      if (input.call.tool !== name || outputOf(activity, 'prepare_child')?.start === undefined)
        return [];
      const task = child === undefined ? '' : taskOf(child.recording, texts);
      return task === '' ? [] : [{ input: texts.value(input.call.args), task }];
    }),
  );
  return { ...said, kind: 'subagent', version, starts: name, tasks } as WrittenTool;
}

/** A start has the beginning of a long task; the first request has all of it. */
function taskOf({ start, bundle, activities, root }: Recording, texts: Texts): string {
  const { goal } = start.task;
  const said = briefOf({ bundle, start, activities, root } as Recording, texts);
  return goal.endsWith('…') ? said : goal;
}

/** Results by call: a call that is tried again with the same arguments answers with the next one. */
class Attempts {
  private readonly byTool = new Map<
    string,
    { callId: string; place: string; input: Json; results: WrittenResult[] }[]
  >();

  add(
    call: { tool: string; callId: string; input: Json; place: string },
    result: WrittenResult,
  ): void {
    const known = this.byTool.get(call.tool) ?? [];
    this.byTool.set(call.tool, known);
    const same = known.find(
      ({ callId, input, place }) =>
        callId === call.callId &&
        place === call.place &&
        canonicalJson(input) === canonicalJson(call.input),
    );
    const { callId, place, input } = call;
    if (same === undefined) known.push({ callId, place, input, results: [result] });
    else same.results.push(result);
  }

  of(tool: string): NonNullable<WrittenTool['recorded']> {
    return (this.byTool.get(tool) ?? []).map(({ input, place, results }) => ({
      input,
      ...(place !== '' && { run: place }),
      results,
    }));
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
