/**
 * fromAiSdkTool: a tool of the AI SDK (v5, v6, v7) becomes a tool of Holdfast, by its shape: no package of the AI SDK is needed.
 * Invariants: a tool whose effect nobody said may have any effect, and a person is asked before each call; `execute` gets only
 * what has passed the tool's schema.
 */
import type { ToolEffect } from '../../core/state/tool.js';
import { thrownText } from '../../pure/thrown-text.js';
import { defineTool, wrong, type ToolDefinition } from '../define-tool.js';
import { unknownField, type KnownFields } from '../known-fields.js';
import type { JsonSchema } from '../schema-forms.js';
import { isToolError, ToolError } from '../tool-error.js';
import type { Tool, ToolContext } from '../tool.js';
import { takenInput } from './tool-input.js';
import { lastOf, toldResult, untoldResult } from './tool-result.js';

/** The fields of a tool of the AI SDK that count: `tool({ … })`, `dynamicTool({ … })`, or one of an MCP client of the SDK. */
export interface AiSdkTool {
  readonly type?: string | undefined;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  /** Anything but false asks a person before each call, unless `approval` of the settings says otherwise. */
  readonly needsApproval?: unknown;
  readonly execute?: unknown;
  readonly toModelOutput?: unknown;
}

type Kept = Omit<
  ToolDefinition<JsonSchema>,
  | 'name'
  | 'version'
  | 'effect'
  | 'input'
  | 'output'
  | 'run'
  | 'kind'
  | 'answeredBy'
  | 'sandbox'
  | 'sandboxRun'
  | 'sandboxQueue'
  | 'isolated'
>;

/** What the AI SDK does not know of a tool; the other fields are those of `defineTool`. */
export interface AiSdkToolSettings extends Kept {
  /** The worst that a call can do. Default: 'unknown', for which a person is asked before each call. */
  readonly effect?: ToolEffect;
  /** Default: '1'. Give another one when the schema or the meaning of the tool changes. */
  readonly version?: string;
  /**
   * What `execute` gets as `context` and as `experimental_context`; called before each execution. The place for
   * `ctx.idempotencyKey`.
   */
  readonly context?: (ctx: ToolContext) => unknown;
  /** The major of the AI SDK that the tool was written for. 5: `toModelOutput` gets the result itself. Default: 6. */
  readonly sdk?: 5 | 6 | 7;
}

const FIELDS: KnownFields<AiSdkToolSettings> = {
  effect: true,
  version: true,
  context: true,
  sdk: true,
  idempotency: true,
  description: true,
  approval: true,
  card: true,
  limits: true,
  identity: true,
  timeoutMs: true,
  maxResultBytes: true,
  maxCostMicroUsd: true,
  concurrencySafe: true,
  quick: true,
  queue: true,
  probe: true,
  onLost: true,
  required: true,
};

type Execute = (input: unknown, options: object) => unknown;
type ToModelOutput = (given: unknown) => unknown;

/**
 * Makes a tool of Holdfast of a tool of the AI SDK. The name is the one that the model sees; dots group tools. Of several
 * results that `execute` yields the last one counts. `messages` of a call is an empty list. `strict`, `inputExamples`,
 * `providerOptions` and the functions `onInput…` have no effect.
 *
 * Errors: InvalidTool, for a tool without `execute`, for one that a model's vendor runs, and for a schema that cannot travel.
 */
export function fromAiSdkTool(
  name: string,
  tool: AiSdkTool,
  settings: AiSdkToolSettings = {},
): Tool {
  const execute = executeOf(name, tool);
  const unknown = unknownField(settings, FIELDS);
  if (unknown !== undefined) throw wrong(name, `there is no field ${unknown.name}`, unknown.hint);
  const { effect = 'unknown', version = '1', context, sdk = 6, approval, ...rest } = settings;
  if (![5, 6, 7].includes(sdk)) throw wrong(name, `its sdk is ${String(sdk)}`, 'Use 5, 6 or 7.');
  checkForm(name, tool, settings);
  const { input, converted } = takenInput(name, tool.inputSchema);
  const told = tellOf(name, tool, sdk);
  return defineTool({
    ...descriptionOf(name, tool, settings),
    ...rest,
    ...approvalOf(tool, approval),
    name,
    version,
    effect,
    input: input as JsonSchema,
    async run(given, ctx) {
      const taken = await before('input', () => converted?.(given) ?? given);
      const options = optionsOf(ctx, await before('context', () => context?.(ctx)));
      const output = await lastOf(execute(taken, options), ctx.signal);
      return told({ toolCallId: ctx.callId, input: taken, output });
    },
  });
}

function executeOf(name: string, tool: AiSdkTool): Execute {
  if (typeof tool !== 'object' || tool === null) {
    throw wrong(name, 'it is no tool of the AI SDK', 'Give tool({ inputSchema, execute, … }).');
  }
  const { type, execute } = tool;
  if (typeof execute === 'function') return execute.bind(tool) as Execute;
  if (type?.startsWith('provider') === true) {
    const hint = 'Use defineHostedTool for what the vendor of a model runs.';
    throw wrong(name, 'a vendor of models runs it, and it has no execute', hint);
  }
  const hint =
    "Give it an execute function; for an answer of a person use askPerson or kind: 'human_input'.";
  throw wrong(name, 'it has no execute function', hint);
}

/** What other majors write elsewhere, and what is missing for a call. */
function checkForm(
  name: string,
  tool: AiSdkTool & { readonly parameters?: unknown; readonly contextSchema?: unknown },
  { context, approval, effect }: AiSdkToolSettings,
): void {
  if (tool.parameters !== undefined && tool.inputSchema === undefined) {
    const hint = 'Rename `parameters` to `inputSchema`.';
    throw wrong(name, 'it is of v4 of the AI SDK, which has parameters', hint);
  }
  if (tool.contextSchema !== undefined && context === undefined) {
    const hint = 'Say context: (ctx) => ({ … }) in the settings.';
    throw wrong(name, 'it needs a context, and has none', hint);
  }
  const reads = effect === 'read' || effect === 'none';
  if (reads && approval === undefined && (tool.needsApproval ?? false) !== false) {
    const hint = "Say approval: 'never', or the effect that people should agree to.";
    throw wrong(name, `it needs approval, but its effect is "${effect}"`, hint);
  }
}

/** The SDK decides by a function of the input whether it asks; a run asks always then. */
function approvalOf(
  { needsApproval = false }: AiSdkTool,
  approval: AiSdkToolSettings['approval'],
): Pick<AiSdkToolSettings, 'approval'> {
  if (approval !== undefined) return { approval };
  return needsApproval === false ? {} : { approval: 'always' };
}

function descriptionOf(
  name: string,
  { description }: AiSdkTool,
  settings: AiSdkToolSettings,
): Pick<AiSdkToolSettings, 'description'> {
  if (settings.description !== undefined || description === undefined) return {};
  if (typeof description === 'string') return { description };
  const hint =
    'Say a description in the settings: a run offers the same tools from its beginning to its end.';
  throw wrong(name, 'its description is no text', hint);
}

interface Ended {
  readonly toolCallId: string;
  readonly input: unknown;
  readonly output: unknown;
}

function tellOf(name: string, tool: AiSdkTool, sdk: number): (ended: Ended) => Promise<unknown> {
  const { toModelOutput } = tool;
  if (toModelOutput === undefined) return async ({ output }) => output;
  if (typeof toModelOutput !== 'function') {
    throw wrong(name, 'its toModelOutput is no function', 'Drop the field, or give a function.');
  }
  const convert = toModelOutput.bind(tool) as ToModelOutput;
  return async (ended) => {
    try {
      return toldResult(await convert(sdk === 5 ? ended.output : ended));
    } catch (error) {
      return untoldResult(error);
    }
  };
}

/** What fails before `execute` is called has had no effect. */
async function before<T>(what: string, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (isToolError(error)) throw error;
    const why = thrownText(error);
    throw new ToolError(`Nothing was done: the ${what} of the tool could not be made: ${why}`);
  }
}

function optionsOf({ callId, signal }: ToolContext, context: unknown): object {
  return {
    toolCallId: callId,
    messages: [],
    abortSignal: signal,
    context,
    experimental_context: context,
  };
}
