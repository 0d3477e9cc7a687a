/** What was fixed of a recorded goal and its cycles, in the words of a case. */
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import type { GoalDefinition } from '../../core/state/goal/definition.js';
import type { GoalTerms } from '../../core/state/goal/terms.js';
import type { FixtureDocument } from '../format/document.js';
import { budget as budgetKeys, settings as settingKeys } from '../format/settings.js';
import { budgetOf, settingsOf } from './configuration.js';
import { isGoalTool, type GoalRecording } from './goal-recording.js';
import type { Recording } from './recording.js';
import { refused } from './refused.js';

type Written<Key extends keyof FixtureDocument> = NonNullable<FixtureDocument[Key]>;

/** Cycles are given these by the goal: what the agent says of them is in the terms. */
const OF_THE_GOAL = [
  'maxCostMicroUsd',
  'maxModelCalls',
  'maxToolCalls',
  'maxInputTokens',
  'maxOutputTokens',
] as const;

/** Limits of an agent, without those that the goal gave its cycle. */
export function agentBudget(recording: Recording): Written<'budget'> {
  const fields = Object.entries(budgetOf(recording));
  return Object.fromEntries(
    fields.filter(([name]) => !OF_THE_GOAL.some((one) => one === name)),
  ) as Written<'budget'>;
}

/** Limits of every cycle, of which the goal cuts its slices. */
export function cycleBudget({ cycle }: GoalTerms): Written<'budget'> {
  const named = OF_THE_GOAL.filter((name) => name !== 'maxCostMicroUsd');
  return Object.fromEntries(
    named.flatMap((name) => (cycle[name] === DEFAULT_BUDGET[name] ? [] : [[name, cycle[name]]])),
  ) as Written<'budget'>;
}

/** Those of the cycles, and the prices of all models that the goal asks. */
export function goalSettings(
  { terms }: GoalRecording,
  together: Recording | undefined,
): Written<'settings'> {
  const asked = [...terms.judges, ...(terms.reviewer === undefined ? [] : [terms.reviewer])];
  const routes = asked.map(({ route }) => route);
  if (together !== undefined) return settingsOf(together, routes);
  return { model: terms.versions.route ?? 'model' };
}

export function loopOf(
  { start }: GoalRecording,
  { agent, tools }: { readonly agent?: string; readonly tools: readonly string[] },
): Written<'goalLoop'> {
  const { objective: _, agent: __, validation = [], cycle = {}, ...rest } = start.goal;
  const known = [...Object.keys(budgetKeys.shape), ...Object.keys(settingKeys.shape)];
  const own = Object.entries(cycle).filter(([name]) => known.includes(name));
  return {
    ...(rest as unknown as Written<'goalLoop'>),
    ...(agent !== undefined && { agent }),
    validation: validation.map((check) => checkOf(check, tools)),
    cycle: Object.fromEntries(own) as NonNullable<Written<'goalLoop'>['cycle']>,
  };
}

type Check = NonNullable<GoalDefinition['validation']>[number];

/** A tool that no agent of the case has is one of the check's own name. */
function checkOf(
  { name, tool, input, timeoutMs, measure }: Check,
  tools: readonly string[],
): NonNullable<Written<'goalLoop'>['validation']>[number] {
  return {
    name,
    ...(tool !== undefined && tools.includes(tool) && { tool }),
    ...(input !== undefined && { input }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(measure !== undefined && { measure: { ...measure } }),
  };
}

/** A case has one policy, one model and the same settings for all of its agents. */
export function refuseDifferent({ cycles, terms, start }: GoalRecording): void {
  const recordings = cycles.flatMap(({ n, agent, recording }) =>
    recording === undefined ? [] : [{ n, agent, recording }],
  );
  const [first] = recordings;
  const opened = terms.versions.route;
  const own = recordings.find(({ agent }) => agent === start.goal.agent)?.recording;
  if (own !== undefined && opened !== undefined && own.frozen.route.name !== opened)
    throw refused(`its agent had the model ${opened} when it was opened, and another one later`);
  for (const { n, agent, recording } of recordings.slice(1)) {
    const before = recordings.find((one) => one.agent === agent) ?? first!;
    const differing =
      before.agent === agent && toolsOf(before.recording) !== toolsOf(recording)
        ? 'tools'
        : DIFFERING.find(([, told]) => told(first!.recording) !== told(recording))?.[0];
    if (differing !== undefined)
      throw refused(`its cycles ${first!.n} and ${n} had different ${differing}`);
  }
}

const DIFFERING: readonly (readonly [string, (recording: Recording) => string])[] = [
  ['policies', ({ frozen }) => JSON.stringify(frozen.policy.rules)],
  ['models', ({ frozen }) => frozen.route.name],
  ['hooks', ({ frozen }) => JSON.stringify(frozen.hooks)],
  ['settings', (recording) => JSON.stringify(settingsOf(recording))],
];

function toolsOf({ frozen }: Recording): string {
  const own = frozen.tools.filter(({ name }) => !isGoalTool(name));
  return JSON.stringify(own.map(({ name, version, schemaHash }) => [name, version, schemaHash]));
}
