/**
 * Hooks as the core knows them: points, names, and what a hook may say. Their code lives
 * in the worker, registered by name (G17).
 * Invariant: what a hook returns is data from outside; the activity has parsed it to these shapes.
 */
import type { Json } from '../json/json.js';
import type { ToolEffect } from './tool.js';

export const HOOK_POINTS = [
  'SessionStart',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostSampling',
  'Stop',
  'StopFailure',
  'PreCompact',
  'SessionEnd',
] as const;
export type HookPoint = (typeof HOOK_POINTS)[number];

/** Names of the hooks of a run, in the order in which they run; a point without hooks has no activity. */
export type HookNames = { readonly [point in HookPoint]?: readonly string[] };

/** Points at which a hook is asked about one call. */
export const CALL_POINTS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'] as const;
export type CallPoint = (typeof CALL_POINTS)[number];

/** Calls that a hook is asked about (G113); with both fields a call must fit both. */
export interface HookMatch {
  /** Names of tools; `*` stands for any letters, none among them. */
  readonly tools?: readonly string[];
  readonly effects?: readonly ToolEffect[];
}

/** By the hook's name; one that is not here is asked about every call. */
export type HookMatches = { readonly [hook: string]: HookMatch };

/** What one hook said; every field belongs to some of the points only. */
export interface HookOpinion {
  /** SessionStart. */
  readonly additionalContext?: string;
  /**
   * PreToolUse. `allow` only says that the hook does not mind: permission and approval still decide.
   * SessionStart: `deny` refuses the task.
   */
  readonly decision?: 'allow' | 'deny' | 'ask';
  /** SessionStart, PreToolUse, Stop: why. */
  readonly message?: string;
  /** PreToolUse: other arguments, checked before they are used. */
  readonly updatedInput?: Json;
  /** PostSampling: said to the model with the next request. */
  readonly systemMessages?: readonly string[];
  /** Stop. */
  readonly blockingErrors?: readonly string[];
  readonly preventContinuation?: boolean;
}

export interface HookOutcome {
  readonly hook: string;
  readonly opinion: HookOpinion;
  /**
   * The hook threw, ran out of time or said something that is not allowed; it has no opinion then. At
   * PreToolUse that denies the call: a gate that cannot be asked does not open.
   */
  readonly error?: string;
  readonly durationMs: number;
}

/** What a hook activity was started for. */
export interface HookErrand {
  readonly point: HookPoint;
  /** PreToolUse, PostToolUse, PostToolUseFailure. */
  readonly callId?: string;
  readonly tool?: string;
}

/** Most reports of hooks that a result carries. */
export const HOOK_REPORTS_MAX = 50;

/** A hook that ran before `session_init` or after `run_result`, where no event can tell of it (G98). */
export interface HookReport {
  readonly point: HookPoint;
  readonly hook: string;
  readonly outcome: 'ok' | 'deny' | 'error';
  readonly message?: string;
  readonly durationMs: number;
}

/** What the PreToolUse hooks of a call said together. */
export interface CallOpinion {
  readonly denied?: string;
  /** A person must approve, whatever the policy says; the hook that wants it, and why. */
  readonly ask?: { readonly hook: string; readonly reason?: string };
  readonly updatedInput?: Json;
}

/** What the Stop hooks said together of an answer. */
export interface AnswerOpinion {
  readonly blockingErrors: readonly string[];
  readonly prevented: boolean;
  readonly message?: string;
}
