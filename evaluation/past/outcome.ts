/** What came of a recorded run on new terms, beside what was recorded. */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { Counters } from '../../core/state/result.js';
import type { ToolEffect } from '../../core/state/tool.js';
import { resultIn } from '../capture/expectation.js';
import type { Observation } from '../engine.js';
import type { Fixture } from '../fixture.js';
import { isHandedRun } from '../run-tree.js';
import type { Unmatched } from '../scripted/live.js';
import type { PastPlay } from './play.js';

/** Effects of these tools change nothing that anybody could see outside. */
const HARMLESS: readonly ToolEffect[] = ['none', 'read'];

export interface Effect {
  readonly tool: string;
  readonly input: Json;
}

/** Of the whole tree, but for how its root ended. */
export interface Side {
  readonly stop_reason: string;
  readonly detail: string | null;
  readonly completed: boolean;
  readonly turns: number;
  /** Calls that reached the code of a tool, or a sub-agent. */
  readonly calls: number;
  readonly cost_micro_usd: number;
  /** Calls that a policy, a person or a limit denied, and calls with wrong arguments. */
  readonly breaches: number;
}

export interface PastOutcome {
  readonly run_id: string;
  readonly kind: 'played';
  readonly same_end: boolean;
  readonly same_effects: boolean;
  readonly was: Side;
  readonly now: Side;
  /** Effects that were not recorded, and recorded ones that did not happen again. */
  readonly new_effects: readonly Effect[];
  readonly missing_effects: readonly Effect[];
  readonly unmatched: readonly Unmatched[];
}

/** A run that was not played, and why. */
export interface NotPlayed {
  readonly run_id: string;
  readonly kind: 'not_played';
  readonly why: string;
}

export function outcomeOf(runId: string, { fixture, was, now, unmatched }: PastPlay): PastOutcome {
  const before = effectsOf(was, fixture);
  const after = effectsOf(now, fixture);
  const [newEffects, missing] = [without(after, before), without(before, after)];
  const [one, other] = [sideOf(was), sideOf(now)];
  return {
    run_id: runId,
    kind: 'played',
    same_end: one.stop_reason === other.stop_reason && one.detail === other.detail,
    same_effects: newEffects.length === 0 && missing.length === 0,
    was: one,
    now: other,
    new_effects: newEffects,
    missing_effects: missing,
    unmatched,
  };
}

function sideOf({ result, startError, others = [] }: Observation): Side {
  const below = others.flatMap(({ events }) => resultIn(events) ?? []);
  const all = result === undefined ? below : [result, ...below];
  const sum = (of: (counters: Counters) => number): number =>
    all.reduce((total, { counters }) => total + of(counters), 0);
  // What a sub-agent cost is part of what its parent did; a run that has the task pays for itself.
  const paying = all.filter((one) => one === result || isHandedRun(one.runId));
  return {
    stop_reason: result?.stopReason ?? `not started: ${startError?.code ?? 'unknown'}`,
    detail: result?.detail ?? null,
    completed: result?.completed === true,
    turns: sum(({ turnCount }) => turnCount),
    calls: sum(({ toolCalls }) => toolCalls),
    cost_micro_usd: paying.reduce((total, one) => total + one.costMicroUsd, 0),
    breaches: sum(({ deniedCalls, invalidCalls }) => deniedCalls + invalidCalls),
  };
}

/** What was handed to tools that change something: one that had no answer would have taken effect in earnest. */
function effectsOf({ executions }: Observation, fixture: Fixture): readonly Effect[] {
  return executions.flatMap(({ tool, input }) =>
    isChanging(tool, fixture) ? [{ tool, input }] : [],
  );
}

function isChanging(tool: string, { ownAgent, tools }: Fixture): boolean {
  const own = ownAgent?.config?.agents
    .get(ownAgent.name)
    ?.tools.find(({ record }) => record.name === tool)?.record;
  const effect = own?.effect ?? tools.get(tool)?.effect;
  return effect === undefined || !HARMLESS.includes(effect);
}

/** Those of `all` that are not among `others`, each of which stands for one. */
function without(all: readonly Effect[], others: readonly Effect[]): readonly Effect[] {
  const left = others.map(keyOf);
  return all.filter((effect) => {
    const place = left.indexOf(keyOf(effect));
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
}

function keyOf({ tool, input }: Effect): string {
  return `${tool} ${canonicalJson(input)}`;
}
