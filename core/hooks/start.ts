/**
 * Starts the hooks of one point.
 * Invariants: a point without hooks starts nothing; every `run_hooks` in flight has its errand in
 * `run.errands`, and no errand outlives it.
 */
import { follows } from '../step/changes.js';
import { workLimits } from '../step/clock.js';
import { refOf, type ActivityEffect } from '../state/effect.js';
import { nextId, start } from '../step/inflight.js';
import { ownValue, type Json, type StoredText } from '../json/json.js';
import type { NeedsCode } from '../state/payloads/payload.js';
import type { OpenRun, Step } from '../state/run.js';
import { unservedLimit } from '../step/route.js';
import type { HookErrand } from '../state/hook.js';

/** All hooks of one point together, in ms; a single one declares less. */
const POINT_TIMEOUT_MS = 600_000;
/** At the end of a run nothing waits longer for its hooks. */
const END_TIMEOUT_MS = 60_000;
/** What an activity may need beyond its hooks' time: grace after a stop, records. */
const ACTIVITY_MARGIN_MS = 20_000;
/** Deliveries under rules without `workedTime`; what a hook itself does wrong is an outcome, no failure. */
const ATTEMPTS_MAX = 3;

/** Names of the hooks that are asked, in order; for a call those that match it (G113). */
export function hooksFor(
  { frozen, rules }: Pick<OpenRun, 'frozen' | 'rules'>,
  { point, tool: name }: Pick<HookErrand, 'point' | 'tool'>,
): readonly string[] {
  const names = frozen.hooks[point] ?? [];
  const { hookMatches } = frozen;
  if (hookMatches === undefined || name === undefined) return names;
  if (!follows({ rules }, 'matchedHooks')) return names;
  const tool = frozen.tools.find((one) => one.name === name);
  return names.filter((hook) => {
    const { tools, effects } = ownValue(hookMatches, hook) ?? {};
    const isNamed = tools === undefined || tools.some((glob) => matchesGlob(glob, name));
    // Of a tool that is not known the worst is assumed.
    return isNamed && (effects === undefined || !tool || effects.includes(tool.effect));
  });
}

export function matchesGlob(glob: string, name: string): boolean {
  const pieces = glob.split('*');
  const [first = '', last = ''] = [pieces[0], pieces.at(-1)];
  if (pieces.length === 1) return glob === name;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.startsWith(first) && name.endsWith(last) && at + last.length <= name.length;
}

export function startHooks(run: OpenRun, errand: HookErrand, payload: Json): Step<OpenRun> {
  const { point } = errand;
  const ending = point === 'SessionEnd';
  const timeoutMs = ending ? END_TIMEOUT_MS : POINT_TIMEOUT_MS;
  const { limits, workMs } = hookLimits(run, timeoutMs, ending);
  const id = nextId(run, 'run_hooks');
  const step = start(run, 'run_hooks', (effectId, events): ActivityEffect => ({
    kind: 'run_hooks',
    id: effectId,
    input: {
      v: 1,
      run: refOf(run),
      point,
      hooks: hooksFor(run, errand),
      payload,
      timeoutMs,
      ...(workMs !== undefined && { workMs }),
      ...codeLimit(run, ending),
      events,
    },
    limits,
    summary: errand.tool === undefined ? point : `${point} ${errand.tool}`,
  }));
  return {
    run: { ...step.run, errands: { ...run.errands, [id]: errand } },
    effects: step.effects,
  };
}

/** At the end of a run its hooks' code is waited for no longer than their answers. */
function codeLimit(run: OpenRun, ending: boolean): NeedsCode {
  const { unservedMs } = unservedLimit(run);
  if (unservedMs === undefined) return {};
  return { unservedMs: ending ? Math.min(unservedMs, END_TIMEOUT_MS) : unservedMs };
}

/** The end of a run is beyond its time: only the hooks' own limit counts there. */
function hookLimits(run: OpenRun, timeoutMs: number, ending: boolean) {
  const attemptMs = timeoutMs + ACTIVITY_MARGIN_MS;
  const heartbeatMs = run.frozen.settings.heartbeatMs.repeatable;
  if (!ending) {
    const ownMs = follows(run, 'workedTime') ? attemptMs : 'unlimited';
    return workLimits(run, { attemptMs, ownMs, heartbeatMs, deliveriesMax: ATTEMPTS_MAX });
  }
  return follows(run, 'workedTime')
    ? { limits: { attemptMs, heartbeatMs, maximumAttempts: 0 }, workMs: attemptMs }
    : { limits: { attemptMs, heartbeatMs, maximumAttempts: ATTEMPTS_MAX }, workMs: undefined };
}

/** A text as hooks are told it: the activity fetches what lies in the store. */
export function toldText(text: StoredText | undefined): Json {
  if (text === undefined) return '';
  if ('text' in text) return text.text;
  return { $blob: text.$blob, bytes: text.bytes };
}
