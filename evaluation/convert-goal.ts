/** The part of a written fixture that is about a goal. */
import type { GoalDefinition } from '../core/state/goal/definition.js';
import { stepOf } from './convert-during.js';
import { resultsOf, scriptOf, usageOf } from './convert-script.js';
import { taskOf } from './convert-task.js';
import type { CaseTool } from './fixture.js';
import {
  GOAL_ACTIONS,
  type CaseGoal,
  type ScriptedJudgement,
  type ScriptedReview,
} from './goal-case.js';
import type { FixtureDocument } from './format/document.js';
import { GOAL_EVENT_NAMES, type WrittenJudgement, type WrittenReview } from './format/goal.js';
import { PLAIN_TOOL } from './toolbox.js';

type GoalLoop = NonNullable<FixtureDocument['goalLoop']>;

export function goalOf(document: FixtureDocument, agent: string): CaseGoal | undefined {
  const { goalLoop, checks = {}, cycles = [], reviews = [], judges = {} } = document;
  if (goalLoop === undefined) return undefined;
  return {
    definition: definitionOf(document, goalLoop, agent),
    checks: new Map(Object.entries(checks).map(([name, runs]) => [name, resultsOf(runs)])),
    cycles: cycles.map(({ model, agent: worker }) => ({
      model: scriptOf(model),
      ...(worker !== undefined && { agent: worker }),
    })),
    reviews: reviews.map(reviewOf),
    judges: new Map(Object.entries(judges).map(([name, given]) => [name, given.map(judgementOf)])),
  };
}

/** Asked when a reviewer that the case only scripts wants a person's word. */
const REVIEW_ROLE = 'person';

/** Who is scripted exists: a reviewer, judges. */
function definitionOf(
  document: FixtureDocument,
  goalLoop: GoalLoop,
  agent: string,
): GoalDefinition {
  const { reviews, judges } = document;
  const { constraints = [], reviewer, judges: declared, ...rest } = goalLoop;
  const { goal, constraints: ofTask = [] } = taskOf(document);
  const lines = [...constraints, ...(ofTask as readonly string[])];
  const known = Object.fromEntries(Object.keys(judges ?? {}).map((name) => [name, {}]));
  const allJudges = { ...known, ...declared };
  return {
    agent,
    ...(rest as unknown as Partial<GoalDefinition>),
    objective: goal,
    ...(lines.length > 0 && { constraints: lines }),
    ...(Object.keys(allJudges).length > 0 && { judges: allJudges }),
    ...((reviewer !== undefined || reviews !== undefined) && {
      reviewer: reviewer ?? { roles: [REVIEW_ROLE] },
    }),
  } as GoalDefinition;
}

function reviewOf(written: WrittenReview): ScriptedReview {
  if ('error' in written) return { kind: 'error', message: written.error };
  const { objective_valid, approval_needed, handoff, plan, pause, because, evidence, usage } =
    written;
  return {
    kind: 'review',
    objectiveValid: objective_valid ?? true,
    because: because ?? 'Scripted.',
    evidence: evidence ?? [],
    ...(approval_needed !== undefined && { approvalNeeded: approval_needed }),
    ...(handoff !== undefined && { handoff }),
    ...(plan !== undefined && { plan: plan.map(stepOf) }),
    ...(pause !== undefined && { pause }),
    usage: usageOf(usage),
  };
}

function judgementOf(written: WrittenJudgement): ScriptedJudgement {
  if ('error' in written) return { kind: 'error', message: written.error };
  const { score, because = 'Scripted.', evidence = [], usage } = written;
  return { kind: 'judgement', score, because, evidence, usage: usageOf(usage) };
}

/** A check that names no tool is a read tool of its own name. */
export function checkTools(
  document: FixtureDocument,
  own: ReadonlyMap<string, CaseTool>,
): ReadonlyMap<string, CaseTool> {
  const checks = document.goalLoop?.validation ?? [];
  const named = checks.flatMap(({ name, tool = name }): [string, CaseTool][] => {
    const declared = own.get(tool);
    if (declared !== undefined) return [[tool, declared]];
    return tool === name ? [[name, readTool(name)]] : [];
  });
  return new Map(named);
}

function readTool(name: string): CaseTool {
  return {
    ...PLAIN_TOOL,
    name,
    description: `Checks ${name}.`,
    effect: 'read',
    idempotency: 'natural',
    concurrencySafe: true,
  };
}

/** Keys that say something only of a goal, or only of a single run. */
export function goalProblems(document: FixtureDocument): readonly string[] {
  return document.goalLoop === undefined ? ofPlainRun(document) : ofGoal(document);
}

const GOAL_KEYS = ['checks', 'cycles', 'reviews', 'judges'] as const;
const GOAL_EXPECTATIONS = [
  'cycles',
  'reviews',
  'checkpoints',
  'checks',
  'cycle_results',
  'plan',
  'state',
  'done',
  'briefs',
  'slept_ms',
  'progress_log',
] as const;
const NARROWING = ['check', 'cycle', 'agent'] as const;
const NEEDS_GOAL = 'goes with goalLoop only';

function ofPlainRun(document: FixtureDocument): readonly string[] {
  const { expected, during = [] } = document;
  return [
    ...GOAL_KEYS.filter((key) => document[key] !== undefined),
    ...GOAL_EXPECTATIONS.filter((key) => expected[key] !== undefined).map(
      (key) => `expected.${key}`,
    ),
    ...(expected.events ?? []).flatMap((wanted, index) =>
      ofGoals('not' in wanted ? wanted.not : wanted) ? [`expected.events[${index}].event`] : [],
    ),
    ...during.flatMap((moment, index) => [
      ...(ofGoals(moment.on) ? [`during[${index}].on.event`] : []),
      ...NARROWING.filter((key) => key in moment.on).map((key) => `during[${index}].on.${key}`),
      ...moment.do
        .flatMap((action) => [
          ...GOAL_ACTIONS.filter((key) => action[key] !== undefined),
          ...(['goal', 'cycle', 'agent'] as const)
            .filter((key) => action.resolveApproval?.[key] !== undefined)
            .map((key) => `resolveApproval.${key}`),
        ])
        .map((key) => `during[${index}].do.${key}`),
    ]),
  ].map((path) => `${path}: ${NEEDS_GOAL}`);
}

function ofGoals(pattern: object): boolean {
  const { event } = pattern as { readonly event?: string };
  if (event === 'handoff') return false;
  return event !== undefined && (GOAL_EVENT_NAMES as readonly string[]).includes(event);
}

/** Of a task a goal has these; a child's task is made by the goal. */
const TASK_KEYS: readonly string[] = ['caller', 'traceId', 'constraints', 'allowedActions'];

function ofGoal(document: FixtureDocument): readonly string[] {
  const { goalLoop = {}, task = {}, checks = {}, judges = {}, sessions } = document;
  const names = (goalLoop.validation ?? []).map(({ name }) => name);
  const unknownChecks = Object.keys(checks).filter((name) => !names.includes(name));
  const unknownJudges = Object.keys(judges).filter(
    (name) => goalLoop.judges !== undefined && goalLoop.judges[name] === undefined,
  );
  return [
    ...Object.keys(task)
      .filter((key) => !TASK_KEYS.includes(key))
      .map((key) => `task.${key}: does not go with goalLoop`),
    ...(sessions === undefined ? [] : ['sessions: does not go with goalLoop']),
    ...unknownChecks.map((name) => `checks.${name}: is no check of goalLoop.validation`),
    ...unknownJudges.map((name) => `judges.${name}: is no judge of goalLoop.judges`),
  ];
}
