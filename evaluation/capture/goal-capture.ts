/**
 * A recorded goal as a case: each cycle plays what it said, checks, judges and the reviewer answer from the record, people
 * say what they said.
 * Errors: `CaptureRefused`, which names what no case can say.
 */
import type { Bundle } from '../../replay/bundle.js';
import { CASE_AGENT } from '../fixture.js';
import type { FixtureDocument } from '../format/document.js';
import { policyOf } from './configuration.js';
import { checkScripts } from './goal-checks.js';
import {
  agentBudget,
  cycleBudget,
  goalSettings,
  loopOf,
  refuseDifferent,
} from './goal-configuration.js';
import { goalExpectation } from './goal-expectation.js';
import { goalMoments } from './goal-moments.js';
import { questionScripts } from './goal-questions.js';
import { goalRecordingOf, isGoalTool, togetherOf, type GoalRecording } from './goal-recording.js';
import { goalUntil } from './goal-until.js';
import { hooksOf } from './hook-script.js';
import { modelScript, PRICE_LEFT_OUT, type CapturedScript } from './model-script.js';
import type { Recording } from './recording.js';
import { refused } from './refused.js';
import { summaryScript } from './summaries.js';
import { Texts } from './texts.js';
import { toolRecords } from './tool-records.js';

type Written<Key extends keyof FixtureDocument> = NonNullable<FixtureDocument[Key]>;

/** Of a cycle that no model was asked in. */
const NEVER_ASKED: Written<'model'> = [{ text: 'This answer is not recorded, and was none.' }];

interface GoalCaptureOptions {
  readonly expected: FixtureDocument['expected'] | undefined;
  /** Number of the last step that is taken over. */
  readonly until: number | undefined;
}

export function captureGoal(
  bundle: Bundle,
  { expected, until }: GoalCaptureOptions,
): FixtureDocument {
  const whole = goalRecordingOf(bundle);
  const recording = until === undefined ? whole : goalUntil(whole, until);
  const { start, terms } = recording;
  const together = togetherOf(recording);
  refuseUnsayable(recording, together);
  const texts = new Texts(bundle.blobs);
  const scripts = recording.cycles.map((cycle) => scriptOf(cycle.recording, texts));
  const questions = questionScripts(recording, texts);
  const checks = checkScripts(recording);
  const moments = goalMoments(recording);
  const { tools, leftOut } =
    together === undefined
      ? { tools: {}, leftOut: [] }
      : toolRecords({ root: together, members: [] }, texts, false);
  const compaction = together === undefined ? [] : summaryScript(together, texts);
  const hooks = together === undefined ? {} : hooksOf({ root: together, members: [] });
  const others = (start.goal.handoffTo ?? []).length > 0;
  const nameOf = (agent: string): string => (others ? agent : CASE_AGENT);
  const isPriceKnown = questions.isPriceKnown && scripts.every((one) => one.isPriceKnown);
  const left = [...leftOut, ...checks.leftOut, ...moments.leftOut, ...notSaid(recording, others)];
  const budget = {
    ...(together !== undefined && agentBudget(together)),
    ...cycleBudget(terms),
  };
  return {
    case_id: bundle.run.runId,
    title: titleOf(recording),
    captured: {
      run: bundle.run.runId,
      agent: start.goal.agent,
      ...(bundle.versions.rules !== null && { rules: bundle.versions.rules }),
      ...(until !== undefined && { until }),
      ...leftOutOf([...left, ...unanswered(recording, scripts, isPriceKnown)]),
    },
    ...instructionsOf(together, texts, others),
    goal: start.goal.objective,
    ...taskOf(recording),
    ...(Object.keys(budget).length > 0 && { budget }),
    settings: goalSettings(recording, together),
    ...(together !== undefined && policyOf(together)),
    tools,
    ...(others && { agents: agentsOf(recording, scripts) }),
    ...(compaction.length > 0 && { compaction: [...compaction] }),
    ...hooks,
    ...(moments.during.length > 0 && { during: [...moments.during] }),
    goalLoop: loopOf(recording, {
      ...(others && { agent: start.goal.agent }),
      tools: Object.keys(tools),
    }),
    ...(Object.keys(checks.checks).length > 0 && { checks: checks.checks }),
    ...cyclesOf(recording, scripts, others),
    ...(questions.reviews.length > 0 && { reviews: [...questions.reviews] }),
    ...(Object.keys(questions.judges).length > 0 && { judges: questions.judges }),
    expected: expected ?? goalExpectation({ recording, together, texts, isPriceKnown, nameOf }),
  };
}

function scriptOf(recording: Recording | undefined, texts: Texts): CapturedScript {
  if (recording === undefined) return { replies: [], isPriceKnown: true, leftOut: [] };
  return modelScript(recording, texts, false);
}

function leftOutOf(leftOut: string[]): { readonly leftOut?: string[] } {
  return leftOut.length > 0 ? { leftOut } : {};
}

function unanswered(
  { cycles }: GoalRecording,
  scripts: readonly CapturedScript[],
  isPriceKnown: boolean,
): readonly string[] {
  const lost = scripts.flatMap(({ leftOut }, index) =>
    leftOut.map((one) => `in cycle ${cycles[index]?.n ?? index + 1}: ${one}`),
  );
  return isPriceKnown ? lost : [...lost, PRICE_LEFT_OUT];
}

function repliesOf(script: CapturedScript | undefined): Written<'model'> {
  const { replies = [] } = script ?? {};
  return replies.length > 0 ? [...replies] : NEVER_ASKED;
}

function cyclesOf(
  { cycles }: GoalRecording,
  scripts: readonly CapturedScript[],
  isNamed: boolean,
): Pick<FixtureDocument, 'cycles' | 'model'> {
  if (cycles.length === 0) return { model: NEVER_ASKED };
  return {
    cycles: cycles.map(({ agent }, index) => ({
      model: repliesOf(scripts[index]),
      ...(isNamed && { agent }),
    })),
  };
}

/** Of a goal that may be handed over: everybody by the name that reviewer and agents know. */
function agentsOf(
  { start, cycles }: GoalRecording,
  scripts: readonly CapturedScript[],
): Written<'agents'> {
  const names = new Set([start.goal.agent, ...(start.goal.handoffTo ?? [])]);
  // A case has an agent of this name by itself: what the rest of the case says holds for it.
  names.delete(CASE_AGENT);
  return Object.fromEntries(
    [...names].map((name): [string, Written<'agents'>[string]] => {
      const index = cycles.findIndex(
        ({ agent, recording }) => agent === name && recording !== undefined,
      );
      const recording = cycles[index]?.recording;
      if (recording === undefined) return [name, { model: NEVER_ASKED }];
      const offered = recording.frozen.tools.filter(isOffered).map((tool) => tool.name);
      return [
        name,
        {
          model: repliesOf(scripts[index]),
          tools: offered,
          budget: agentBudget(recording),
        },
      ];
    }),
  );
}

function isOffered({ name }: { readonly name: string }): boolean {
  return !isGoalTool(name);
}

function instructionsOf(
  together: Recording | undefined,
  texts: Texts,
  isNamed: boolean,
): Pick<FixtureDocument, 'instructions'> {
  const [block] = together?.root.blocks ?? [];
  if (isNamed || block?.type !== 'text') return {};
  return { instructions: texts.text(block.text) };
}

function taskOf({ start }: GoalRecording): Pick<FixtureDocument, 'task'> {
  const { caller, traceId } = start;
  const task = {
    ...(caller !== undefined && { caller }),
    ...(traceId !== undefined && { traceId }),
  };
  return Object.keys(task).length > 0 ? { task } : {};
}

function titleOf({ bundle, start }: GoalRecording): string {
  const last = bundle.events.at(-1);
  const result = last?.type === 'goal_result' ? last.result : undefined;
  const detail = result?.detail === undefined ? '' : ` (${result.detail})`;
  return `Goal ${bundle.run.runId} of ${start.goal.agent}: ${result?.stopReason ?? 'not ended'}${detail}`;
}

function refuseUnsayable(recording: GoalRecording, together: Recording | undefined): void {
  refuseDifferent(recording);
  if (together === undefined) return;
  const { frozen, opened } = together;
  const starter = frozen.tools.find(({ kind }) => kind === 'subagent');
  if (starter !== undefined)
    throw refused(`its tool ${starter.name} is of the kind ${starter.kind}`);
  if (frozen.supervisor !== undefined) throw refused('its cycles are supervised');
  const [used] = opened.connectors?.connectors ?? [];
  if (used !== undefined) throw refused(`its cycles used the connector ${used.name}`);
  if ((frozen.handoffTo ?? []).length > 0) throw refused('its cycles hand over by themselves');
}

/** What the case does without, and a reader should know of. */
function notSaid({ terms, bundle }: GoalRecording, isNamed: boolean): readonly string[] {
  return [
    ...(terms.requireProof ? ['signatures of decisions: nobody in a case proves anything'] : []),
    ...(isNamed ? ['the instructions of its agents'] : []),
    ...(bundle.segments.length > 1
      ? [`its ${bundle.segments.length} segments: the case is played in one`]
      : []),
  ];
}
