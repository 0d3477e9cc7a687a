/**
 * The activities of a worker, by the names that the workflow calls them.
 * Invariants: every activity stores its events before it does anything else, except a quick read, which
 * leaves them to the next; what leaves is a bounded payload or an ApplicationFailure with an ErrorCode as
 * its type.
 */
import type {
  Acknowledged,
  Activities,
  ActivityEffect,
  ActivityKind,
  CheckCallInput,
  ExecuteToolInput,
  InputOf,
  Limited,
  OpenRunInput,
  OpenRunOutput,
  OutputOf,
} from '../core/state/effect.js';
import { PAYLOAD_BYTES_MAX, surelyFits } from '../core/json/json.js';
import { BRIEF_VERSION, PAYLOAD_VERSION } from '../core/state/payloads/payload.js';
import { briefOutput } from '../core/step/brief-output.js';
import { wholeGiven, withOwnRoute } from './brief-payload.js';
import { closeChild } from './agents/close-child.js';
import { prepareChild } from './agents/prepare-child.js';
import { prepareHandoff } from './agents/prepare-handoff.js';
import { accountCall } from './model/account-call.js';
import { callModel } from './model/call-model.js';
import { checkCall } from './tool/check-call.js';
import { closeRun } from './run/close-run.js';
import { compact } from './model/compact.js';
import type { ActivityDeps } from './deps.js';
import { executeTool } from './tool/execute-tool.js';
import { elsewhere, isQuick, ranElsewhere } from './tool/quick-read.js';
import { failure } from './failure.js';
import { GOAL_ACTIVITIES } from './goal/index.js';
import { fetchKeys } from './run/fetch-keys.js';
import { flush } from './run/flush.js';
import { leaving } from './leave.js';
import { openHandoff } from './run/open-handoff.js';
import { readMail } from './run/read-mail.js';
import { openRun } from './run/open-run.js';
import { failedWithin, openWithin, opensElsewhere, type QuickOpening } from './run/open-within.js';
import { metStore } from './own-store.js';
import { reconcileTool } from './tool/reconcile-tool.js';
import { recordOutcome } from './tool/record-outcome.js';
import { resolveModel } from './model/resolve-model.js';
import { runHooks } from './hooks/run-hooks.js';
import { tellUnmatched } from './run/unmatched-start.js';
import { inScope, type Scope } from './scope.js';
import { askSupervisor } from './supervision/ask-supervisor.js';
import { withServerTools } from './connectors/server-tools.js';
import { unlessSilent } from './unless-silent.js';

export type { ActivityDeps } from './deps.js';
export { attemptsKey, completeAhead, inScope, untilStopped, type Scope } from './scope.js';
export { opensElsewhere, type QuickOpening } from './run/open-within.js';
export { workOf, type Progress } from './progress.js';
export type { Timers } from './timers.js';

type Implementations = {
  readonly [Kind in ActivityKind]: (
    deps: ActivityDeps,
    scope: Scope,
    input: InputOf<Kind>,
  ) => Promise<OutputOf<Kind>>;
};

const IMPLEMENTATIONS: Implementations = {
  ...GOAL_ACTIVITIES,
  open_run: async (deps, scope, input) => {
    const output = await opened(deps, scope, input);
    tellUnmatched(deps, scope, { input, output });
    return output;
  },
  call_model: callModel,
  execute_tool: executeTool,
  reconcile_tool: reconcileTool,
  record_outcome: recordOutcome,
  check_call: checkCall,
  run_hooks: runHooks,
  compact,
  resolve_model: resolveModel,
  account_call: accountCall,
  fetch_keys: fetchKeys,
  read_mail: readMail,
  ask_supervisor: askSupervisor,
  prepare_child: prepareChild,
  close_child: closeChild,
  prepare_handoff: prepareHandoff,
  flush,
  close_run: closeRun,
};

function opened(deps: ActivityDeps, scope: Scope, input: OpenRunInput): Promise<OpenRunOutput> {
  const { handoff, quick } = input;
  if (quick !== undefined) return openWithin(deps, scope, { ...input, quick });
  return handoff === undefined
    ? openRun(deps, scope, input)
    : openHandoff(deps, scope, { ...input, handoff });
}

export function createActivities(deps: ActivityDeps): Activities {
  const names = Object.keys(IMPLEMENTATIONS) as (keyof Activities)[];
  const bound = names.map((name) => [
    name,
    (input: never) => inScope((scope) => guarded(name, { deps, scope, input })),
  ]);
  // Each name has its own implementation, which is what makes the cast true.
  return Object.fromEntries(bound) as Activities;
}

/** Of a worker that decides and runs no code: what is tried within its tasks goes to those that do. */
export function createDeciderActivities(): Pick<Activities, 'execute_tool' | 'open_run'> {
  return {
    execute_tool: async (input) => elsewhere(input, 'unserved'),
    open_run: async (input) => opensElsewhere(input as QuickOpening, 'unserved'),
  };
}

/** One attempt of an activity in a given scope, for whoever stands in for Temporal. */
export function performActivity(
  deps: ActivityDeps,
  scope: Scope,
  { kind, input }: Pick<ActivityEffect, 'kind' | 'input'>,
): Promise<unknown> {
  return guarded(kind, { deps, scope, input: input as never });
}

/** A version is a small number; what stands in its place may be anything. */
const VERSION_CHARS_MAX = 40;

interface Attempt {
  readonly deps: ActivityDeps;
  readonly scope: Scope;
  readonly input: never;
}

async function guarded(name: keyof Activities, attempt: Attempt): Promise<unknown> {
  const { deps, scope } = attempt;
  let { input } = attempt;
  try {
    const version = readableVersion(name, input);
    input = wholeGiven(name, input);
    const output = await unlessSilent(scope, async (own) => {
      // A question to a model asks which store this is in its first transaction.
      const store = name === 'call_model' ? undefined : await metStore(deps, input);
      const routed = await withOwnRoute(deps, scope, { name, input });
      const known = await withServerTools(deps, tenantOf(routed), toolsNamed(routed));
      const done: object = await IMPLEMENTATIONS[name](known, own, routed);
      return { ...done, ...(store !== undefined && { store }) };
    });
    return bounded({ ...briefOutput(name, version, output), ...worked(scope, version) });
  } catch (error) {
    if (isQuick(name, input)) return ranElsewhere(input, error);
    if (name === 'open_run' && 'quick' in input) return failedWithin(input, error);
    const { workMs } = input as Limited;
    throw leaving(deps, scope, { error, workMs });
  }
}

/** Nothing is said of no time in a brief payload. */
function worked({ work }: Scope, version: number): Pick<Acknowledged, 'workedMs'> {
  const workedMs = work.ms();
  return workedMs === 0 && version === BRIEF_VERSION ? {} : { workedMs };
}

/** The tool that an activity is about. */
function toolsNamed(input: Partial<Pick<ExecuteToolInput, 'call'> & NamedTool>): readonly {
  readonly name: string;
  readonly version: string;
}[] {
  const { tool: name, toolVersion: version }: Partial<NamedTool> = input.call ?? input;
  return typeof name === 'string' && typeof version === 'string' ? [{ name, version }] : [];
}

type NamedTool = Pick<CheckCallInput, 'tool' | 'toolVersion'>;

function tenantOf({ run }: Pick<ExecuteToolInput, 'run'>): string {
  return run.tenant;
}

/** A payload of another version is for another worker: nothing of it is guessed. */
function readableVersion(
  name: string,
  input: { readonly v?: unknown } & Pick<Partial<ExecuteToolInput>, 'quick'>,
): number {
  if (input.v === PAYLOAD_VERSION || input.v === BRIEF_VERSION)
    return input.quick?.brief === true ? BRIEF_VERSION : input.v;
  const version = JSON.stringify(input.v)?.slice(0, VERSION_CHARS_MAX) ?? 'none';
  const message =
    `The input of ${name} has version ${version}, and this worker reads up to version ${BRIEF_VERSION}. ` +
    'The activity waits for a newer worker: deploy one.';
  throw failure('NotServed', {
    message,
    details: { payloadVersion: Number.isInteger(input.v) ? input.v : version },
  });
}

/** A payload that is too large would be retried for ever, and paid for each time. */
function bounded<T>(output: T): T {
  if (surelyFits(output, PAYLOAD_BYTES_MAX)) return output;
  const bytes = Buffer.byteLength(JSON.stringify(output));
  if (bytes <= PAYLOAD_BYTES_MAX) return output;
  const message = `The result of an activity has ${bytes} bytes, the limit is ${PAYLOAD_BYTES_MAX}.`;
  throw failure('Internal', { message, retryable: false });
}
