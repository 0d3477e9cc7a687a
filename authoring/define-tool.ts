/**
 * defineTool: a declaration and its code become one frozen Tool.
 * Invariant: whatever would fail later because of the declaration alone fails here, with a hint.
 */
import { HoldfastError } from '../core/state/errors.js';
import {
  EFFECTS,
  IDEMPOTENCIES,
  ON_LOST,
  sideEffectOf,
  wireNameOf,
  type AnswerRule,
  type Idempotency,
  type OnLost,
  type ToolEffect,
  type ToolRecord,
} from '../core/state/tool.js';
import { didYouMean } from '../pure/nearest-names.js';
import { answerRuleOf, approvalOf, type ApprovalDeclaration } from './approval.js';
import { cardOf, type CardDeclaration } from './card.js';
import { controlsOf, type IdentityDeclaration, type LimitsDeclaration } from './controls.js';
import { inputSchemaOf } from './input-schema.js';
import { TOOL_FIELDS, type Whole } from './field-places.js';
import { shown } from './known-fields.js';
import { checkDefinition, fieldDefect } from './whole-definition.js';
import { outputSchemaOf } from './output-schema.js';
import type { FittingOf, InputDeclaration, InputOf } from './schema-forms.js';
import { kindDefect, type DeclaredKind } from './tool-kind.js';
import type { ResultWithFiles } from './tool-files.js';
import { valueDefect } from './tool-values.js';
import type { Tool, ToolContext } from './tool.js';

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RESULT_BYTES_MAX = 10 * 1024 * 1024;
/** The largest text that the store takes. */
const RESULT_BYTES_LIMIT = 64 * 1024 * 1024;
const TIMEOUT_MS_MAX = 24 * 3_600_000;
const DESCRIPTION_CHARS_MAX = 4_000;
/** Providers allow 64 characters of letters, digits, `_` and `-`; dots are ours (G75). */
const WIRE_NAME_CHARS_MAX = 64;
const NAME = /^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$/;
const QUEUE = /^[A-Za-z0-9._:/-]{1,200}$/;
const VERSION = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,31}$/;

type Output = InputDeclaration | undefined;

/** What the code of a tool returns for this declaration of its output; without one anything. */
type Returned<Declared> = Declared extends undefined
  ? unknown
  : Value<Unwritten<FittingOf<Declared>>> | Promise<Value<Unwritten<FittingOf<Declared>>>>;

type Value<T> = T | ResultWithFiles<T>;

/** Nobody writes into a result: lists of it may be constant. */
type Unwritten<T> = T extends object ? { readonly [Name in keyof T]: Unwritten<T[Name]> } : T;

/** What a tool is: its name, what a call can do at worst (`effect`), its schema and its code. */
export interface ToolDefinition<
  Schema extends InputDeclaration,
  Declared extends Output = Output,
  Result extends Returned<Declared> = Returned<Declared>,
> {
  /** Letters, digits, `_`, `-`; dots group tools: `payments.issue_refund`. */
  readonly name: string;
  readonly version: string;
  /** The worst that a call can do. Retries, approval and reconciling follow from it. */
  readonly effect: ToolEffect;
  /** Default: 'natural' for none and read, else 'unknown'. */
  readonly idempotency?: Idempotency;
  /**
   * A zod object, an object of another library that implements Standard Schema (valibot, arktype), or a JSON Schema: of
   * fields that it says nothing of the tool gets none.
   */
  readonly input: Schema;
  /** What `run` and `probe` return must fit it as JSON; it is checked, never changed (G73). */
  readonly output?: Declared;
  readonly description?: string;
  readonly approval?: ApprovalDeclaration;
  /** With kind 'human_input': 'customer' (the run's caller), 'staff' (anybody else) or {roles}. */
  readonly answeredBy?: AnswerRule;
  /** What the card of its question shows first: how much, to whom; default: its arguments as they are. */
  readonly card?: CardDeclaration;
  /** Limits across runs: what would pass one is refused, and nothing happens. */
  readonly limits?: LimitsDeclaration<InputOf<Schema>>;
  /** What an effect is about: a second one within the window asks a person. */
  readonly identity?: IdentityDeclaration<InputOf<Schema>>;
  readonly timeoutMs?: number;
  readonly maxResultBytes?: number;
  /** Most that one execution costs in micro-USD, as it tells by `ctx.cost`; default: nothing is reserved. */
  readonly maxCostMicroUsd?: number;
  readonly concurrencySafe?: boolean;
  /**
   * A read that mostly ends within milliseconds: it is tried in the task that decides, for at most a second, and the run
   * hears nothing else meanwhile. A call without an answer goes on as any other.
   */
  readonly quick?: boolean;
  /** Default: 'tool', whose `run` is called. 'human_input': a person answers. 'handoff': the run ends with it. */
  readonly kind?: DeclaredKind;
  /** Throw ToolError to say that nothing happened; any other error of a changing tool is in doubt. */
  readonly run: (input: InputOf<Schema>, ctx: ToolContext) => Result;
  /** Whether it may ('optional', the default with `sandboxRun`) or must run in its sandbox. */
  readonly sandbox?: 'none' | 'optional' | 'required';
  /**
   * `run` in a sandbox: `ctx.sandbox`, or one of the tool's own making, such as a container. Calls go to the sandbox
   * queue of the run's own, unless the tool names another.
   */
  readonly sandboxRun?: (input: InputOf<Schema>, ctx: ToolContext) => Returned<Declared>;
  /** `sandboxRun` runs commands by `ctx.sandbox.run`: a worker that can isolate nothing does not serve it. */
  readonly isolated?: boolean;
  /**
   * Task queue of the workers that run it (`holdfast worker --only activities --queue NAME`), for what is heavy or
   * dangerous. Default: the run's own queue.
   */
  readonly queue?: string;
  /** The same for `sandboxRun`. Default: `queue`, else the sandbox queue of the run's own (`holdfast worker --only sandbox`). */
  readonly sandboxQueue?: string;
  /** Did the call with `ctx.idempotencyKey` happen? Its result, or null / undefined when it did not. */
  readonly probe?: (input: InputOf<Schema>, ctx: ToolContext) => unknown;
  /**
   * When nobody heard how a call ended. Default: 'probe' where there is one, else 'ask' (a person).
   * 'repeat_with_key', only for keyed tools: it is called again with the same key, without asking anybody.
   * Money is then sent once only if the service honours the key.
   */
  readonly onLost?: OnLost;
  /**
   * The task is nothing without this tool: when it says `ToolError('tool_unavailable', …)`, or no worker has had its
   * code for as long as the run waits, the run stops `tool_unavailable`. Default: the model finds another way.
   */
  readonly required?: boolean;
}

const CHECKS: readonly ((definition: Declaration) => void)[] = [
  checkEffect,
  checkValues,
  checkSandbox,
  checkLoss,
  checkQueues,
  checkQuick,
];

const FIELDS: Whole<ToolDefinition<InputDeclaration>, typeof TOOL_FIELDS> = TOOL_FIELDS;

/** A definition without the types of its code, which are checked where they are written. */
type Declaration = Omit<
  ToolDefinition<InputDeclaration>,
  'run' | 'sandboxRun' | 'probe' | 'limits' | 'identity'
> & {
  readonly run: unknown;
  readonly sandboxRun?: unknown;
  readonly probe?: unknown;
};

/**
 * Makes a tool of a schema, an effect and code. By the effect Holdfast repeats calls (`read`), or claims each in a
 * ledger, runs it once and waits for a person (`financial`, `send`, `delete`); a lost answer is looked up by `probe`.
 * Errors: InvalidTool, which names the field.
 */
export function defineTool<
  Schema extends InputDeclaration,
  Declared extends Output = Output,
  // Constant: the words of a result keep their own types.
  const Result extends Returned<Declared> = Returned<Declared>,
>(definition: ToolDefinition<Schema, Declared, Result>): Tool {
  checkDefinition('defineTool({ … })', definition, 'InvalidTool');
  checkNames(definition);
  const defect = fieldDefect(definition, FIELDS);
  if (defect !== undefined) throw wrong(definition.name, defect.what, defect.hint);
  for (const check of CHECKS) check(definition);
  const { name, version, effect, sandboxRun, probe, onLost } = definition;
  const schema = inputSchemaOf(name, definition.input);
  const output =
    definition.output === undefined ? undefined : outputSchemaOf(name, definition.output);
  const kind = definition.kind ?? 'tool';
  const { limits, identity, queue, sandboxQueue } = definition;
  const controls = controlsOf({ name, effect, limits, identity });
  const card = cardOf(name, definition.card, schema.jsonSchema);
  const answeredBy = answerRuleOf(name, kind, definition.answeredBy);
  const record: ToolRecord = {
    name,
    version,
    wireName: wireNameOf(name),
    kind,
    effect,
    idempotency: idempotencyOf(definition),
    approval: approvalOf(name, effect, definition.approval),
    concurrencySafe: definition.concurrencySafe ?? false,
    timeoutMs: within(name, 'timeoutMs', [
      definition.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      TIMEOUT_MS_MAX,
    ]),
    maxResultBytes: within(name, 'maxResultBytes', [
      definition.maxResultBytes ?? DEFAULT_RESULT_BYTES_MAX,
      RESULT_BYTES_LIMIT,
    ]),
    ...costBoundOf(definition),
    schemaHash: schema.hash,
    ...(output !== undefined && { outputSchemaHash: output.hash }),
    probes: probe !== undefined,
    ...(onLost !== undefined && { onLost }),
    ...(card !== undefined && { card }),
    ...(definition.required === true && { required: true as const }),
    ...(answeredBy !== undefined && { answeredBy }),
    ...(sandboxRun !== undefined && { sandbox: definition.sandbox ?? 'optional' }),
    ...(definition.quick === true && { quick: true as const }),
    ...(queue !== undefined && { queue }),
    ...(sandboxQueue !== undefined && { sandboxQueue }),
  };
  return Object.freeze({
    record: Object.freeze(record),
    description: definition.description ?? '',
    inputSchema: schema.jsonSchema,
    parse: schema.parse,
    ...(output !== undefined && { outputDefect: output.defectOf }),
    ...(controls !== undefined && { controls }),
    ...(definition.isolated === true && { isolated: true as const }),
    ...codeOf(definition),
  });
}

/** Only what `parse` returned is ever handed in, so the schema's type holds. */
function codeOf<Schema extends InputDeclaration>({
  run,
  sandboxRun,
  probe,
}: ToolDefinition<Schema>): Pick<Tool, 'run' | 'sandboxRun' | 'probe'> {
  return {
    run: async (input, ctx) => run(input as InputOf<Schema>, ctx),
    ...(sandboxRun !== undefined && {
      sandboxRun: async (input, ctx) => sandboxRun(input as InputOf<Schema>, ctx),
    }),
    ...(probe !== undefined && {
      probe: async (input, ctx) => probe(input as InputOf<Schema>, ctx),
    }),
  };
}

export function checkNames({
  name,
  version,
  description,
}: Pick<Declaration, 'name' | 'version' | 'description'>): void {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw wrong(
      String(name),
      'its name is not allowed',
      'Begin with a letter and use letters, digits, "_" and "-"; separate groups by single dots.',
    );
  }
  if (wireNameOf(name).length > WIRE_NAME_CHARS_MAX) {
    const hint = `Shorten it to ${WIRE_NAME_CHARS_MAX} characters, counting each dot twice.`;
    throw wrong(name, 'its name is too long for model providers', hint);
  }
  if (typeof version !== 'string' || !VERSION.test(version)) {
    throw wrong(name, `its version is ${shown(version)}`, "Give the tool a version, such as '1'.");
  }
  if (description === undefined) return;
  if (typeof description !== 'string') {
    const hint = 'Say in a text what the tool does.';
    throw wrong(name, `its description is ${shown(description)}`, hint);
  }
  if (description.length > DESCRIPTION_CHARS_MAX) {
    const hint = `Keep it below ${DESCRIPTION_CHARS_MAX} characters: every request sends the description.`;
    throw wrong(name, 'its description is too long', hint);
  }
}

function checkEffect(definition: Declaration): void {
  const { name, effect, idempotency, run, probe } = definition;
  if (effect === undefined) {
    throw wrong(name, 'it declares no effect', `Say the worst it can do: ${EFFECTS.join(', ')}.`);
  }
  if (!EFFECTS.includes(effect)) {
    const hint = `${didYouMean(effect, EFFECTS)}Use one of ${EFFECTS.join(', ')}.`;
    throw wrong(name, `its effect is ${shown(effect)}`, hint);
  }
  if (idempotency !== undefined && !IDEMPOTENCIES.includes(idempotency)) {
    const hint = `Use one of ${IDEMPOTENCIES.join(', ')}.`;
    throw wrong(name, `its idempotency is ${shown(idempotency)}`, hint);
  }
  const otherKind = kindDefect(definition.kind ?? 'tool');
  if (otherKind !== undefined) throw wrong(name, otherKind.what, otherKind.hint);
  if (typeof run !== 'function') {
    throw wrong(name, 'it has no run function', 'Add run: (input, ctx) => ….');
  }
  if (probe !== undefined && sideEffectOf(effect) !== 'mutating') {
    const hint = 'Drop this field: a read is simply repeated.';
    throw wrong(name, `it has a probe, but its effect is "${effect}"`, hint);
  }
}

function checkValues(definition: Declaration): void {
  const defect = valueDefect(definition);
  if (defect !== undefined) throw wrong(definition.name, defect.what, defect.hint);
}

function checkLoss({ name, effect, idempotency, probe, onLost }: Declaration): void {
  if (onLost === undefined) return;
  if (!ON_LOST.includes(onLost)) {
    throw wrong(name, `its onLost is ${shown(onLost)}`, `Use one of ${ON_LOST.join(', ')}.`);
  }
  if (sideEffectOf(effect) !== 'mutating') {
    const hint = 'Drop this field: a read is simply repeated.';
    throw wrong(name, `it has an onLost, but its effect is "${effect}"`, hint);
  }
  if (onLost === 'probe' && probe === undefined) {
    const hint = "Add probe: (input, ctx) => …, or declare onLost: 'ask'.";
    throw wrong(name, 'its onLost is "probe", but it has none', hint);
  }
  if (onLost === 'repeat_with_key' && idempotency !== 'keyed') {
    const hint =
      "Declare idempotency: 'keyed' if its service recognises ctx.idempotencyKey; else use 'probe' or 'ask'.";
    throw wrong(name, 'its onLost is "repeat_with_key", but it is not keyed', hint);
  }
}

/** Names of this beginning are the server's own: it refuses calls that go there. */
const RESERVED = '/_sys/';

function isQueue(name: string): boolean {
  return QUEUE.test(name) && !name.startsWith(RESERVED);
}

function checkQueues({ name, kind = 'tool', sandboxRun, queue, sandboxQueue }: Declaration): void {
  for (const [field, value] of Object.entries({ queue, sandboxQueue })) {
    if (value === undefined || (typeof value === 'string' && isQueue(value))) continue;
    throw wrong(
      name,
      `its ${field} is ${shown(value)}`,
      'Name a task queue by 1 to 200 of the characters A-Z a-z 0-9 . _ : / -, not beginning with /_sys/',
    );
  }
  if (queue !== undefined && kind !== 'tool') {
    throw wrong(name, 'it has a queue, but no code that runs', 'Drop this field.');
  }
  if (sandboxQueue !== undefined && sandboxRun === undefined) {
    throw wrong(
      name,
      'it has a sandboxQueue, but no sandboxRun',
      'Add sandboxRun, or name a queue.',
    );
  }
}

function checkQuick(definition: Declaration): void {
  const { name, quick, effect, kind = 'tool', queue, sandbox, maxCostMicroUsd } = definition;
  if (quick === undefined || quick === false) return;
  const drop = 'Drop quick: calls of the tool are then ordinary activities.';
  const idempotency = idempotencyOf(definition);
  if (effect !== 'read' || idempotency !== 'natural' || kind !== 'tool') {
    throw wrong(name, 'it is quick, but no read that is simply repeated', drop);
  }
  if (queue !== undefined) throw wrong(name, 'it is quick, but has a queue of its own', drop);
  if (sandbox === 'required') throw wrong(name, 'it is quick, but runs in a sandbox', drop);
  if (maxCostMicroUsd !== undefined) throw wrong(name, 'it is quick, but costs money', drop);
}

function checkSandbox({ name, kind, effect, sandbox, sandboxRun, isolated }: Declaration): void {
  if (kind === 'human_input' && effect !== 'none') {
    const hint = "Declare effect: 'none'; the answer of a person is its result.";
    throw wrong(name, `it asks a person, but its effect is "${effect}"`, hint);
  }
  if (sandboxRun === undefined && sandbox !== undefined && sandbox !== 'none') {
    const hint = 'Add sandboxRun: (input, ctx) => …, which runs it there.';
    throw wrong(name, `its sandbox is ${shown(sandbox)}, but it has none`, hint);
  }
  if (isolated === true && sandboxRun === undefined) {
    throw wrong(name, 'it is isolated, but has no sandboxRun', 'Add sandboxRun, or drop isolated.');
  }
  if (sandboxRun !== undefined && sandbox === 'none') {
    throw wrong(name, 'it has a sandboxRun that is never used', 'Drop it, or drop sandbox.');
  }
}

function idempotencyOf({ effect, idempotency }: Declaration): Idempotency {
  return idempotency ?? (sideEffectOf(effect) === 'mutating' ? 'unknown' : 'natural');
}

function costBoundOf({
  name,
  kind = 'tool',
  maxCostMicroUsd,
}: Declaration): Pick<ToolRecord, 'maxCostMicroUsd'> {
  if (maxCostMicroUsd === undefined) return {};
  if (kind !== 'tool') {
    throw wrong(name, `it has a cost, but its kind is "${kind}"`, 'Drop maxCostMicroUsd.');
  }
  const bound = within(name, 'maxCostMicroUsd', [maxCostMicroUsd, Number.MAX_SAFE_INTEGER]);
  return { maxCostMicroUsd: bound };
}

function within(tool: string, field: string, [value, max]: readonly [number, number]): number {
  if (Number.isInteger(value) && value > 0 && value <= max) return value;
  throw wrong(tool, `${field} is ${String(value)}`, `Give a whole number from 1 to ${max}.`);
}

export function wrong(tool: string, what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidTool', `Tool ${tool.slice(0, 200)}: ${what}.`, { hint });
}
