/**
 * The scripted hooks of a case: one for each point that it names, with its outcomes in order and then no
 * opinion. They go through defineHook like everybody's.
 */
import {
  defineHook,
  type Hook,
  type HookContext,
  type HookReturns,
} from '../../authoring/index.js';
import { HOOK_POINTS, type HookPoint } from '../../core/state/hook.js';
import type { Fixture } from '../fixture.js';
import { reachAtEnd, type Moments, type Occurrence } from './moments.js';
import type { Stage } from './stage.js';

export interface HookCast {
  readonly stage: Stage;
  readonly moments: Moments;
}

export function scriptedHooks(
  { hooks, namedHooks = {} }: Pick<Fixture, 'hooks' | 'namedHooks'>,
  cast: HookCast,
): readonly Hook[] {
  return HOOK_POINTS.flatMap((point) => {
    const named = namedHooks[point];
    const outcomes = hooks[point] ?? (named && []);
    return outcomes === undefined ? [] : [scriptedHook({ point, ...named }, outcomes, cast)];
  });
}

interface Scripted {
  readonly throws?: string | undefined;
  readonly delayMs?: number | undefined;
  readonly call?: string | undefined;
}

/** Where outcomes name calls, a call gets its own; else they are used in order. */
function outcomeOf(outcomes: readonly Scripted[], number: number, input: object): Scripted {
  if (!outcomes.some(({ call }) => call !== undefined)) return outcomes[number] ?? {};
  const { call_id: asked } = input as { readonly call_id?: string };
  return outcomes.find(({ call }) => call !== undefined && call === asked) ?? {};
}

/** Points that no event tells of (G98). */
const UNTOLD: readonly HookPoint[] = ['SessionStart', 'SessionEnd'];

interface Registered {
  readonly point: HookPoint;
  readonly name?: string;
  readonly match?: object | undefined;
}

function scriptedHook(
  { point, name = point, match }: Registered,
  outcomes: readonly Scripted[],
  { stage, moments }: HookCast,
): Hook {
  let asked = 0;
  return defineHook({
    name,
    point,
    ...(match !== undefined && { match: match as never }),
    async run(input: object, { signal, runId }: HookContext) {
      const worker = stage.worker();
      const number = asked;
      asked += 1;
      const { throws, delayMs = 0, call: _, ...opinion } = outcomeOf(outcomes, number, input);
      await worker.wait(delayMs, signal);
      if (signal.aborted) throw new Error('stopped');
      if (!UNTOLD.includes(point)) {
        const { call_id: call, tool_name: tool } = input as {
          call_id?: string;
          tool_name?: string;
        };
        // The event is there when the hook has run: what is done then reaches the run with what it said.
        const hooked: Occurrence = {
          kind: 'event',
          event: 'hook',
          name: point,
          runId,
          ...(call !== undefined && { call }),
          ...(tool !== undefined && { tool }),
          id: `hook:${point}:${number}`,
        };
        await reachAtEnd(moments, hooked, worker);
      }
      if (throws !== undefined) throw new Error(throws);
      return opinion as HookReturns[typeof point];
    },
  });
}
