/**
 * The scripted tools of a case. Their declarations go through defineTool like everybody's, once for each
 * declaration; what they answer comes from the script, one result per attempt.
 */
import { z } from 'zod';
import {
  defineTool,
  ToolError,
  withFiles,
  type InputDeclaration,
  type Tool,
  type ToolContext,
} from '../../authoring/index.js';
import type { DeclaredKind } from '../../authoring/tool-kind.js';
import { withRequiredFields } from '../../authoring/required-fields.js';
import { RefusedCall, RETRYABLE, type RefusedCode } from '../../authoring/tool-error.js';
import { canonicalJson, type Json } from '../../core/json/json.js';
import { retryFor, sideEffectOf } from '../../core/state/tool.js';
import { sourceOf } from '../case-files.js';
import type { WrittenFile } from '../format/files.js';
import { checkResultOf, type CaseGoal } from '../goal-case.js';
import type { PlaceOf } from '../run-tree.js';
import { resultOf, type CaseTool, type ScriptedResult } from '../fixture.js';
import { approvalOf } from './approval.js';
import type { Executions } from './executions.js';
import type { OwnTime } from './own-time.js';
import { NOT_RECORDED, RecordedAnswers } from './recorded.js';
import { reachAtEnd, toolOccurrence, type Moments } from './moments.js';
import { stopsWork, type Stage, type StageWorker } from './stage.js';
import { unfitOf } from './unfit.js';

/** Declarations kept ready; making one costs more than a whole small case. */
const DECLARED_MAX = 1_000;

export interface ToolCast {
  readonly stage: Stage;
  readonly moments: Moments;
  readonly executions: Executions;
  /** Failures of a tool that are retried, where it may be retried at all. */
  readonly maxRetries: number;
  /** Whose checks run tools as well, by scripts of their own. */
  readonly goal?: CaseGoal | undefined;
  /** A tool was asked by this run what its record does not have. */
  readonly onUnmatched?: (tool: string, input: Json, runId: string) => void;
  /** Where the run stands whose record answers a run of the case; undefined: there is none. */
  readonly placeOf: PlaceOf;
  /** Of code that is not scripted; absent: the engine's time is real. */
  readonly ownTime?: OwnTime;
}

export function scriptedTool(declared: CaseTool, cast: ToolCast): Tool {
  return toolDouble(declarationOf(declared), declared, cast);
}

/** The tool with what the case says in place of its code. */
export function toolDouble(tool: Tool, declared: CaseTool, cast: ToolCast): Tool {
  const double = new ToolDouble(declared, tool, cast);
  return {
    ...tool,
    ...unfitOf(tool, declared),
    run: (input, ctx) => double.run(input as Json, ctx, false),
    ...(tool.sandboxRun !== undefined && {
      sandboxRun: (input: unknown, ctx: ToolContext) => double.run(input as Json, ctx, true),
    }),
  };
}

const declarations = new Map<string, Tool>();

function declarationOf(declared: CaseTool): Tool {
  const { results: _, recorded: __, starts: ___, tasks: ____, ...record } = declared;
  const name = canonicalJson(record as unknown as Json);
  const known = declarations.get(name);
  if (known !== undefined) return known;
  const tool = declared.kind === 'subagent' ? starter(declared) : declare(declared);
  if (declarations.size < DECLARED_MAX) declarations.set(name, tool);
  return tool;
}

function declare(declared: CaseTool): Tool {
  const {
    inputSchema,
    outputSchema,
    approval,
    results: _,
    recorded: __,
    starts: ___,
    tasks: ____,
    sandbox,
    ...record
  } = declared;
  const isServed = record.kind === 'mcp';
  const tool = defineTool({
    ...record,
    // Whoever plays a case has looked at its kinds (`notYet`), and hosted tools are not declared here.
    kind: isServed ? 'tool' : (record.kind as DeclaredKind),
    input: inputOf(inputSchema),
    ...(outputSchema !== undefined && { output: schemaOf(outputSchema) }),
    // Nobody declares that a read asks; a case may say so all the same.
    ...(approval !== undefined && !asksToRead(declared) && { approval: approvalOf(approval) }),
    run: () => undefined,
    ...(sandbox !== 'none' && { sandbox, sandboxRun: () => undefined }),
  });
  const asked = asksToRead(declared) ? askedFirst(tool, declared) : tool;
  // Connectors make these: the double stands in the place of the server.
  return isServed ? { ...asked, record: { ...asked.record, kind: 'mcp' } } : asked;
}

function asksToRead({ effect, approval }: CaseTool): boolean {
  const isPlain = approval === undefined || approval === 'never' || approval === 'by_policy';
  return !isPlain && sideEffectOf(effect) !== 'mutating';
}

/** With the approval that a tool which changes something would have. */
function askedFirst(tool: Tool, declared: CaseTool): Tool {
  const { approval } = declare({ ...declared, effect: 'write', kind: 'tool' }).record;
  return { ...tool, record: { ...tool.record, approval } };
}

/** What starts a sub-agent is declared as any tool, and runs no code. */
function starter(declared: CaseTool): Tool {
  const { record, ...tool } = declare({ ...declared, kind: 'tool', concurrencySafe: true });
  return Object.freeze({ ...tool, record: Object.freeze({ ...record, kind: 'subagent' }) });
}

/** Takes no arguments whatever; still an object to whoever reads its JSON Schema. */
const NOTHING = z.looseObject({}).refine(() => false, 'this tool takes no arguments at all');

function inputOf(schema: CaseTool['inputSchema']): InputDeclaration {
  if (schema === false) return NOTHING;
  if (schema === true) return { type: 'object' };
  const { type } = schema;
  return type === 'object' ? { ...schema, type } : schemaOf(schema);
}

function schemaOf(schema: CaseTool['inputSchema']): z.ZodType {
  const whole = typeof schema === 'boolean' ? schema : withRequiredFields(schema);
  return z.fromJSONSchema(whole as Parameters<typeof z.fromJSONSchema>[0]);
}

/** Whoever takes the result tells the value and its files apart. */
function besides(value: Json, files: readonly WrittenFile[] | undefined): Json {
  return files === undefined ? value : (withFiles(value, files.map(sourceOf)) as unknown as Json);
}

class ToolDouble {
  /** Failed attempts by call, to know whether another one follows. */
  private readonly failures = new Map<string, number>();
  private readonly recorded: RecordedAnswers | undefined;

  constructor(
    private readonly declared: CaseTool,
    private readonly tool: Tool,
    private readonly cast: ToolCast,
  ) {
    const { name, recorded } = declared;
    this.recorded = recorded && new RecordedAnswers(name, recorded);
  }

  async run(input: Json, ctx: ToolContext, sandbox: boolean): Promise<Json> {
    const { stage, executions } = this.cast;
    const worker = stage.worker();
    const { name: tool } = this.declared;
    const { callId, idempotencyKey: key } = ctx;
    const check = this.checkRun(callId);
    // A check of the goal is no call of a model: nothing that is said of calls is about it.
    if (check !== undefined) return this.answer(check.result, { input, ctx, worker, check: true });
    const index = executions.attemptsOf(tool);
    const end = executions.begin({ callId, tool, key, input, sandbox }, stage.now());
    worker.onDeath(() => end(stage.now()));
    try {
      await this.reach('tool_started', ctx, worker);
      if (ctx.signal.aborted) throw stopped(ctx);
      const result =
        this.recorded?.resultOf(callId, input, this.cast.placeOf(ctx.runId)) ??
        this.resultAt(index, key);
      if (result?.kind === 'error' && result.code === NOT_RECORDED)
        this.cast.onUnmatched?.(tool, input, ctx.runId);
      return await this.answer(result, { input, ctx, worker });
    } finally {
      end(stage.now());
    }
  }

  private checkRun(callId: string): { readonly result: ScriptedResult | undefined } | undefined {
    const { goal } = this.cast;
    const [, name = '', run] = /^check\/(.+)\/(\d+)$/.exec(callId) ?? [];
    if (goal === undefined || run === undefined) return undefined;
    const scripted = checkResultOf(goal, name, Number(run));
    return { result: scripted ?? resultOf(this.declared, Number(run) - 1) };
  }

  /** A tool that knows its key gives the answer of before; nothing is left to go wrong with it. */
  private resultAt(index: number, key: string): ScriptedResult | undefined {
    const { results, idempotency } = this.declared;
    const known = idempotency === 'keyed' && this.cast.executions.hasHappened(key);
    const result = resultOf(this.declared, index);
    return known && index >= results.length && result?.kind !== 'ok' ? undefined : result;
  }

  private async answer(result: ScriptedResult | undefined, call: Attempted): Promise<Json> {
    const { ctx, worker } = call;
    const ends = result?.kind !== 'timeout' && result?.kind !== 'hang';
    await worker.waitAsCall({ callId: ctx.callId, ends }, result?.delayMs ?? 0, ctx.signal);
    if (result === undefined) return this.succeed({ echo: call.input }, call);
    if (ctx.signal.aborted) throw stopped(ctx);
    switch (result.kind) {
      case 'ok':
        if (result.costMicroUsd !== undefined) ctx.cost(result.costMicroUsd);
        return besides(await this.succeed(result.value, call), result.files);
      case 'unfit':
        return this.succeed(result.value, call);
      case 'error':
        if (isRefused(result.code)) throw this.refusal(result.code, result.message, ctx);
        if (!call.check) await this.reach('tool_finished', ctx, worker);
        throw result.code === undefined
          ? new ToolError(result.message)
          : new ToolError(result.code, result.message);
      case 'throws':
        if (!call.check) await this.reach('tool_finished', ctx, worker);
        throw new Error(result.message);
      case 'retryable_error':
        if (!call.check && !this.isRetried(ctx)) await this.reach('tool_finished', ctx, worker);
        throw new ToolError(RETRYABLE, result.reason);
      case 'timeout':
      case 'hang':
        await aborted(ctx.signal);
        throw stopped(ctx);
      case 'input_required':
      case 'refused':
      case 'malformed':
      case 'oversized':
        throw new Error(`${result.kind} is of tools of servers`);
      case 'lost':
        if (result.when === 'after') this.happen(ctx);
        return worker.die();
    }
  }

  private async succeed(value: Json, { ctx, worker, check }: Attempted): Promise<Json> {
    if (check) return value;
    this.happen(ctx);
    await this.reach('tool_finished', ctx, worker);
    return value;
  }

  /** A freeze or a limit has refused the call: no executor has had this attempt. */
  private refusal(code: RefusedCode, message: string, ctx: ToolContext): Error {
    this.cast.executions.withdraw({ callId: ctx.callId, key: ctx.idempotencyKey });
    return new RefusedCall(code, message);
  }

  private happen({ idempotencyKey: key }: ToolContext): void {
    const { executions } = this.cast;
    const { name, idempotency } = this.declared;
    if (idempotency === 'keyed' && executions.hasHappened(key)) return;
    executions.tookEffect(name, key);
  }

  /** Whether a failure of this attempt will be followed by another attempt. */
  private isRetried({ callId }: ToolContext): boolean {
    const failures = (this.failures.get(callId) ?? 0) + 1;
    this.failures.set(callId, failures);
    return retryFor(this.tool.record) !== 'single' && failures <= this.cast.maxRetries;
  }

  private async reach(
    event: 'tool_started' | 'tool_finished',
    { callId, runId, signal }: ToolContext,
    worker: StageWorker,
  ): Promise<void> {
    const { name: tool } = this.declared;
    const id = toolOccurrence(event, callId);
    const { moments } = this.cast;
    const occurrence = { kind: 'event', event, runId, call: callId, tool, id } as const;
    if (event === 'tool_finished') return reachAtEnd(moments, occurrence, worker);
    const actions = await moments.reach(occurrence);
    if (actions.length > 0) await worker.settle(signal, stopsWork(actions));
  }
}

function isRefused(code: string | undefined): code is RefusedCode {
  return code === 'frozen' || code === 'limit_exceeded';
}

interface Attempted {
  readonly input: Json;
  readonly ctx: ToolContext;
  readonly worker: StageWorker;
  readonly check?: true;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function stopped({ signal }: ToolContext): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('Stopped.');
}
