/** What the hooks of a recorded run said, as the one hook that a case has at each point. */
import { ownValue } from '../../core/json/json.js';
import { isRecord } from '../../core/json/shape.js';
import {
  CALL_POINTS,
  HOOK_POINTS,
  type HookMatch,
  type HookOutcome,
  type HookPoint,
} from '../../core/state/hook.js';
import type { FixtureDocument } from '../format/document.js';
import { ofKind, outputOf } from './recording.js';
import { refused } from './refused.js';
import { allOf, employedIn, type Tree } from './tree.js';

type WrittenHooks = NonNullable<FixtureDocument['hooks']>;
type WrittenNames = NonNullable<FixtureDocument['namedHooks']>;

export function hooksOf(tree: Tree): Pick<FixtureDocument, 'hooks' | 'namedHooks'> {
  const hooks = hookScript(tree);
  return { ...(Object.keys(hooks).length > 0 && { hooks }), ...hookNames(tree) };
}

/** Outcomes at points of calls name their call: hooks that are asked about some calls only keep their place. */
function hookScript(tree: Tree): WrittenHooks {
  const all = allOf(tree);
  const points = new Map<HookPoint, unknown[]>(
    all
      .flatMap(({ recording }) => employedIn(recording))
      .flatMap(({ frozen }) => Object.entries(frozen.hooks))
      .filter(([, names]) => names.length > 0)
      .map(([point]) => [point as HookPoint, []]),
  );
  const known = new Map<string, string>();
  for (const { place, recording } of all) {
    for (const { activity, input } of ofKind(recording, 'run_hooks')) {
      const outcomes = outputOf(activity, 'run_hooks')?.outcomes;
      if (outcomes === undefined) continue;
      const called = isRecord(input.payload) ? input.payload.call_id : undefined;
      const isOfCall = (CALL_POINTS as readonly string[]).includes(input.point);
      if (place !== '' && !isOfCall)
        throw refused(`hooks of the point ${input.point} were asked in the run below it, ${place}`);
      if (typeof called === 'string' && (known.get(called) ?? place) !== place)
        throw refused(
          `hooks were asked about calls of two of its runs that are both named ${called}`,
        );
      if (typeof called === 'string') known.set(called, place);
      points.get(input.point)?.push({
        ...together(outcomes),
        ...(isOfCall && typeof called === 'string' && { call: called }),
      });
    }
  }
  return Object.fromEntries(points) as WrittenHooks;
}

/** Where one hook was all that a point had, in each run: it keeps its name and what it was asked about. */
function hookNames(tree: Tree): Pick<FixtureDocument, 'namedHooks'> {
  const employed = allOf(tree).flatMap(({ recording }) => employedIn(recording));
  const single = HOOK_POINTS.flatMap((point) => {
    const all = employed.flatMap(({ frozen: { hooks, hookMatches = {} } }) =>
      (hooks[point] ?? []).map((name): HookName => {
        const match = ownValue(hookMatches, name);
        return { name, ...(match !== undefined && { match }) };
      }),
    );
    const [first, ...others] = new Set(all.map((one) => JSON.stringify(one)));
    return first === undefined || others.length > 0 ? [] : [[point, all[0]!] as const];
  });
  // Names are unique in an agent, and points without one have a hook of their own name.
  const names = single.map(([, { name }]) => name);
  const kept = single.filter(([point, { name, match }]) => {
    if (name === point) return match !== undefined;
    const isAlone = names.filter((one) => one === name).length === 1;
    return isAlone && !HOOK_POINTS.includes(name as HookPoint);
  });
  return kept.length === 0 ? {} : { namedHooks: Object.fromEntries(kept) as WrittenNames };
}

interface HookName {
  readonly name: string;
  readonly match?: HookMatch;
}

const WEIGHT = ['allow', 'ask', 'deny'] as const;

/** Several hooks of one point as one: the strictest decision, everything that was said. */
function together(outcomes: readonly HookOutcome[]) {
  const failed = outcomes.find(({ error }) => error !== undefined);
  if (failed?.error !== undefined) return { throws: failed.error };
  const opinions = outcomes.map(({ opinion }) => opinion);
  const decided = opinions
    .filter(({ decision }) => decision !== undefined)
    .toSorted((a, b) => WEIGHT.indexOf(b.decision!) - WEIGHT.indexOf(a.decision!))[0];
  const message = decided?.message ?? opinions.find((one) => one.message !== undefined)?.message;
  const context = opinions.flatMap((one) => one.additionalContext ?? []);
  const system = opinions.flatMap((one) => one.systemMessages ?? []);
  const blocking = opinions.flatMap((one) => one.blockingErrors ?? []);
  const updated = opinions.findLast((one) => one.updatedInput !== undefined);
  return {
    ...(decided?.decision !== undefined && { decision: decided.decision }),
    ...(message !== undefined && { message }),
    ...(context.length > 0 && { additionalContext: context.join('\n\n') }),
    ...(system.length > 0 && { systemMessages: system }),
    ...(blocking.length > 0 && { blockingErrors: blocking }),
    ...(updated !== undefined && { updatedInput: updated.updatedInput }),
    ...(opinions.some((one) => one.preventContinuation === true) && { preventContinuation: true }),
  };
}
