/**
 * Hooks (vocabulary D8) as the core knows them: points, names, and what a hook may say. Their code lives
 * in the worker, registered by name (G17).
 * Invariant: what a hook returns is data from outside; the activity has parsed it to these shapes.
 */
import type { Json } from '../json.js';

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

/** What one hook said; every field belongs to some of the points only. */
export interface HookOpinion {
  /** SessionStart. */
  readonly additionalContext?: string;
  /** PreToolUse. */
  readonly decision?: 'allow' | 'deny' | 'ask';
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
  /** The hook threw, ran out of time or said something that is not allowed; it has no opinion then. */
  readonly error?: string;
  readonly durationMs: number;
}
