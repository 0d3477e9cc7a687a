/**
 * defineHook: code of the worker that a run asks at one point of its loop, found by its
 * name. Runs carry names only, never code (G17).
 */
import { z } from 'zod';
import { HoldfastError } from '../core/state/errors.js';
import {
  CALL_POINTS,
  HOOK_POINTS,
  type CallPoint,
  type HookMatch,
  type HookMatches,
  type HookNames,
  type HookOpinion,
  type HookPoint,
} from '../core/state/hook.js';
import type { Json } from '../core/json/json.js';
import type { StopReason } from '../core/state/result.js';
import { EFFECTS } from '../core/state/tool.js';
import { shown, type KnownFields } from './known-fields.js';
import { checkDefinition, fieldDefect } from './whole-definition.js';
import { parseFields } from './parse-fields.js';

const NAME = /^[A-Za-z][A-Za-z0-9._-]{0,63}$/;
const DEFAULT_TIMEOUT_MS = 60_000;
const TIMEOUT_MS_MAX = 600_000;
const HOOKS_MAX = 32;

interface OfCall {
  readonly tool_name: string;
  /** As it will be executed, its long texts restored. */
  readonly tool_input: Json;
  readonly call_id: string;
}

/** What a hook is told, by point. */
export interface HookInputs {
  readonly SessionStart: {
    readonly source: 'startup' | 'resume';
    readonly agent: string;
    /** The beginning of a long one. */
    readonly goal: string;
  };
  readonly PreToolUse: OfCall;
  readonly PostToolUse: OfCall & { readonly tool_response: string };
  readonly PostToolUseFailure: OfCall & { readonly error: string; readonly code: string };
  readonly PostSampling: {
    readonly response: string;
    readonly stop_reason: string;
    readonly tool_calls: readonly { readonly call_id: string; readonly tool_name: string }[];
  };
  readonly Stop: {
    readonly response: string;
    /** This answer follows an objection of a Stop hook. */
    readonly stopHookActive: boolean;
  };
  readonly StopFailure: {
    /** Class of the error, such as Overloaded or PromptTooLong. */
    readonly error: string;
    readonly message: string;
    readonly attempts: number;
  };
  readonly PreCompact: { readonly trigger: 'auto' | 'reactive' };
  readonly SessionEnd: { readonly reason: StopReason };
}

type Silent = { readonly [name: string]: never };

/** What a hook may say, by point; nothing at all is no opinion. */
export interface HookReturns {
  readonly SessionStart: Pick<HookOpinion, 'additionalContext' | 'message'> & {
    /** Nobody may work on this task, because of `message`; a hook that fails refuses nothing. */
    readonly decision?: 'deny';
  };
  readonly PreToolUse: Pick<HookOpinion, 'decision' | 'message' | 'updatedInput'>;
  readonly PostToolUse: Silent;
  readonly PostToolUseFailure: Silent;
  readonly PostSampling: Pick<HookOpinion, 'systemMessages'>;
  readonly Stop: Pick<HookOpinion, 'blockingErrors' | 'preventContinuation' | 'message'>;
  readonly StopFailure: Silent;
  readonly PreCompact: Silent;
  readonly SessionEnd: Silent;
}

/** What a hook is told of the run that asks it. */
export interface HookContext {
  readonly runId: string;
  readonly tenant: string;
  readonly traceId: string;
  /** The same over every redelivery: a hook may be asked twice for one event after a worker's death. */
  readonly idempotencyKey: string;
  /** Aborts at the hook's timeout and when the run is interrupted. */
  readonly signal: AbortSignal;
}

type Said<Point extends HookPoint> = HookReturns[Point] | null | undefined | void;

/** Code of the worker that is asked at one point of a run. */
export interface HookDefinition<Point extends HookPoint> {
  /** Unique in an agent; letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  readonly point: Point;
  /** Calls that it is asked about, at the three points of a call; default: every call. */
  readonly match?: Point extends CallPoint ? HookMatch : never;
  /** ms; default 60 000. */
  readonly timeoutMs?: number;
  readonly run: (input: HookInputs[Point], ctx: HookContext) => Said<Point> | Promise<Said<Point>>;
}

/** A checked hook. Made by `defineHook`. */
export interface Hook {
  readonly name: string;
  readonly point: HookPoint;
  readonly timeoutMs: number;
  readonly match?: HookMatch;
  readonly run: (input: unknown, ctx: HookContext) => Promise<unknown>;
}

const FIELDS: KnownFields<HookDefinition<HookPoint>> = {
  name: true,
  point: true,
  match: true,
  timeoutMs: true,
  run: true,
};

/** Makes a hook: code of the worker that sees, changes or refuses what a run is about to do at `point`. */
export function defineHook<Point extends HookPoint>(definition: HookDefinition<Point>): Hook {
  checkDefinition('defineHook({ … })', definition, 'InvalidAgent');
  const { name, point, timeoutMs = DEFAULT_TIMEOUT_MS, run } = definition;
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw wrong(String(name), 'its name is not allowed', NAME_HINT);
  }
  const defect = fieldDefect(definition, FIELDS);
  if (defect !== undefined) throw wrong(name, defect.what, defect.hint);
  if (!HOOK_POINTS.includes(point)) {
    const hint = `Use one of ${HOOK_POINTS.join(', ')}.`;
    throw wrong(name, `its point is ${shown(point)}`, hint);
  }
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > TIMEOUT_MS_MAX) {
    const hint = `Give a whole number from 1 to ${TIMEOUT_MS_MAX}.`;
    throw wrong(name, `timeoutMs is ${String(timeoutMs)}`, hint);
  }
  if (typeof run !== 'function') {
    throw wrong(name, 'it has no run function', 'Add run: (input, ctx) => ….');
  }
  const match = checkedMatch(definition);
  return Object.freeze({
    name,
    point,
    timeoutMs,
    ...(match !== undefined && { match }),
    // The core builds what each point is told.
    run: async (input: unknown, ctx: HookContext) => run(input as HookInputs[Point], ctx),
  });
}

const matchSchema = z
  .strictObject({
    tools: z
      .array(z.string().regex(/^[A-Za-z0-9_.*-]{1,128}$/, 'must be a name of a tool, `*` for any'))
      .min(1)
      .max(50)
      .optional(),
    effects: z.array(z.enum(EFFECTS)).min(1).max(EFFECTS.length).optional(),
  })
  .refine(({ tools, effects }) => tools !== undefined || effects !== undefined, 'is empty');

interface Matching {
  readonly name: string;
  readonly point: HookPoint;
  readonly match?: unknown;
}

function checkedMatch({ name, point, match }: Matching): HookMatch | undefined {
  if (match === undefined) return undefined;
  if (!(CALL_POINTS as readonly HookPoint[]).includes(point)) {
    throw wrong(name, `${point} is about no call`, `Use match with ${CALL_POINTS.join(', ')}.`);
  }
  const { data, error } = parseFields(matchSchema, match);
  if (data !== undefined) return JSON.parse(JSON.stringify(data)) as HookMatch;
  const issue = error.issues[0];
  const path = ['match', ...(issue?.path ?? [])].join('.');
  throw wrong(name, `${path} is not allowed: ${issue?.message}`, MATCH_HINT);
}

/** The hooks of an agent, checked; they run in this order. */
export function checkedHooks(agent: string, hooks: readonly Hook[]): readonly Hook[] {
  const refuse = (what: string, hint: string): HoldfastError =>
    new HoldfastError('InvalidAgent', `Agent ${agent}: ${what}.`, { hint });
  if (!Array.isArray(hooks)) throw refuse('its hooks are no list', 'Give hooks: [myHook].');
  if (hooks.length > HOOKS_MAX) {
    throw refuse(`it has ${hooks.length} hooks`, `Register at most ${HOOKS_MAX} hooks.`);
  }
  const names = new Set<string>();
  for (const hook of hooks as readonly Hook[]) {
    if (typeof hook?.name !== 'string' || !HOOK_POINTS.includes(hook.point)) {
      throw refuse('one of its hooks is no hook', 'Make each hook with defineHook({…}).');
    }
    if (names.has(hook.name)) {
      throw refuse(
        `it has two hooks named ${hook.name}`,
        'Rename one of the two hooks, or drop one.',
      );
    }
    names.add(hook.name);
  }
  return Object.freeze([...hooks]);
}

/** The names by point, in order, as a run carries them. */
export function hookNames(hooks: readonly Hook[]): HookNames {
  const points = HOOK_POINTS.map((point) => {
    const names = hooks.filter((hook) => hook.point === point).map((hook) => hook.name);
    return [point, names] as const;
  });
  return Object.fromEntries(points.filter(([, names]) => names.length > 0));
}

/** What they match, as a run carries it. */
export function hookMatches(hooks: readonly Hook[]): HookMatches | undefined {
  const matching = hooks.flatMap(({ name, match }) => (match === undefined ? [] : [[name, match]]));
  return matching.length === 0 ? undefined : (Object.fromEntries(matching) as HookMatches);
}

const MATCH_HINT = "A match is {tools?: ['payments.*'], effects?: ['financial']}.";
const NAME_HINT = 'Begin with a letter; use letters, digits, ".", "_" and "-", 64 at most.';

function wrong(hook: string, what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidAgent', `Hook ${hook.slice(0, 200)}: ${what}.`, { hint });
}
