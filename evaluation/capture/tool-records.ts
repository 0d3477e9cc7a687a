/**
 * What the tools of a recorded run were asked and answered, as the tools of a case.
 * Invariant: a tool of the case answers what the record has, call by call, and refuses the rest.
 */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { ToolRecord } from '../../core/state/tool.js';
import type { TranscriptNode } from '../../core/state/transcript.js';
import type { WrittenTool } from '../convert-tools.js';
import type { WrittenResult } from '../format/tools.js';
import type { FixtureDocument } from '../format/document.js';
import { approvalOf } from './approval.js';
import { briefOf } from './cycle.js';
import { hostedTool } from './hosted-tools.js';
import { ofKind, outputOf, type Recording } from './recording.js';
import { refused } from './refused.js';
import { askedAnew, servedDeclaration, servedOutput, serverAway } from './served-tools.js';
import type { Texts } from './texts.js';
import { answerOf } from './tool-answers.js';
import { allOf, employedIn, isLetters, ownToolsIn, type Tree } from './tree.js';
import { unansweredCalls } from './unanswered.js';

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
  const declared = declarationsIn(tree, texts, attempts);
  return {
    tools: Object.fromEntries([...declared].map(([name, { tool }]) => [name, tool])),
    during: all.flatMap(({ during }) => during),
    leftOut: [
      ...all.flatMap(({ leftOut }) => leftOut),
      ...[...declared.values()].flatMap(({ leftOut }) => leftOut ?? []),
    ],
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
    for (const one of [...asked, ...(answer.before ?? []), result])
      attempts.add({ tool, callId, input: texts.value(args), place }, one);
  }
  leftOut.push(...unansweredCalls(recording, (callId) => attempts.countOf(callId, place)));
  return { during, leftOut };
}

/** Each tool of the tree once, as the first run that had it was told of it. */
function declarationsIn(
  tree: Tree,
  texts: Texts,
  attempts: Attempts,
): ReadonlyMap<string, Declaration> {
  const versions = new Map<string, string>();
  const tools = new Map<string, Declaration>();
  for (const held of toolsHeld(tree)) {
    const { name, version } = held.record;
    if ((versions.get(name) ?? version) !== version)
      throw refused(`its runs had two versions of the tool ${name}`);
    if (versions.has(name)) continue;
    versions.set(name, version);
    tools.set(name, declarationOf({ ...held, tree, texts, attempts }));
  }
  return tools;
}

interface Declaration {
  readonly tool: WrittenTool;
  /** In words: what the record does not say of it. */
  readonly leftOut?: string;
}

interface Held {
  readonly recording: Recording;
  readonly root: TranscriptNode;
  readonly record: ToolRecord;
}

function toolsHeld(tree: Tree): readonly Held[] {
  return allOf(tree).flatMap(({ recording }) =>
    employedIn(recording).flatMap(({ frozen, root }) =>
      ownToolsIn(frozen).map((record) => ({ recording, root, record })),
    ),
  );
}

interface Declaring extends Held {
  readonly tree: Tree;
  readonly texts: Texts;
  readonly attempts: Attempts;
}

function declarationOf({ recording, root, record, tree, texts, attempts }: Declaring): Declaration {
  const { name } = record;
  if (isLetters(record)) return { tool: {} };
  const offer = (root.tools ?? []).find((one) => one.name === name);
  const said = {
    description: offer?.description ?? '',
    inputSchema: (offer?.inputSchema ?? {}) as WrittenTool['inputSchema'],
  };
  if (record.kind === 'hosted') return { tool: hostedTool(recording, record, { ...said, texts }) };
  if (record.startsAgent !== undefined)
    return { tool: startingTool(tree, record, { ...said, texts }) };
  const recorded = attempts.of(name);
  const isRedacted = recording.bundle.redactions.length > 0;
  const { leftOut, ...output } = servedOutput(record, recorded, { texts, isRedacted });
  return {
    tool: { ...said, ...declared(record), ...output, recorded },
    ...(leftOut !== undefined && { leftOut }),
  };
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

  countOf(callId: string, place: string): number {
    return [...this.byTool.values()]
      .flat()
      .filter((call) => call.callId === callId && call.place === place)
      .reduce((sum, { results }) => sum + results.length, 0);
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
