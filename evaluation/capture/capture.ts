/**
 * A recorded run as a case: its model and its tools answer from the record, people say what they said.
 * Errors: `CaptureRefused`, which names what no case can say.
 */
import { HoldfastError } from '../../core/state/errors.js';
import { MESSAGE_TOOL } from '../../core/state/mail.js';
import { textAt } from '../../recording/history.js';
import type { Bundle } from '../../replay/bundle.js';
import type { FixtureDocument } from '../format/document.js';
import { budgetOf, policyOf, settingsOf, taskOf } from './configuration.js';
import { expectationOf, resultIn } from './expectation.js';
import { briefOf, isCycle, withoutGoalTools } from './cycle.js';
import { captureGoal } from './goal-capture.js';
import { isGoal } from './goal-recording.js';
import { hookScript } from './hook-script.js';
import { modelScript } from './model-script.js';
import { momentsOf } from './moments.js';
import { recordingOf, type Recording } from './recording.js';
import { recordingUntil } from './until.js';
import { refused } from './refused.js';
import { sessionIn } from './sessions.js';
import { serversIn } from './served-tools.js';
import { superviseScript } from './looks.js';
import { summaryScript } from './summaries.js';
import { Texts } from './texts.js';
import { toolRecords } from './tool-records.js';

export interface CaptureOptions {
  /** What the case expects in place of what was recorded. */
  readonly expected?: FixtureDocument['expected'];
  /** The case is about this agent of a configuration, as it is named from the folder of the case. */
  readonly own?: { readonly agent?: string; readonly config: string };
  /** Number of the last step that is taken over, from 1; absent: all of them. */
  readonly until?: number;
}

export function capture(bundle: Bundle, options: CaptureOptions = {}): FixtureDocument {
  try {
    const { until } = options;
    if (isGoal(bundle)) return goalCase(bundle, options);
    const whole = recordingOf(bundle);
    return caseOf(until === undefined ? whole : recordingUntil(whole, until), options);
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    // A bundle comes from outside: its values may have any form.
    throw refused(
      `its records cannot be read (${error instanceof Error ? error.message : 'unknown'})`,
    );
  }
}

function goalCase(bundle: Bundle, { until, own, expected }: CaptureOptions): FixtureDocument {
  const hint = 'Capture the whole goal, or one cycle of it: `holdfast capture FILE --run c2`.';
  if (own !== undefined)
    throw refused('a case about an agent of a configuration is one of a run', hint);
  return captureGoal(bundle, { expected, until });
}

function caseOf(recording: Recording, options: CaptureOptions): FixtureDocument {
  const { bundle, start, frozen, root } = recording;
  refuseUnsayable(recording);
  if (options.own !== undefined) refuseServers(recording);
  const texts = new Texts(bundle.blobs);
  // Time is part of a run that time ended.
  const isSlow = resultIn(bundle.events)?.stopReason === 'timeout' && worked(recording);
  const script = modelScript(recording, texts, isSlow);
  const { tools, leftOut, during } = toolRecords(recording, texts, isSlow);
  const mcp = serversIn(recording);
  const moments = momentsOf(recording);
  const compaction = summaryScript(recording, texts);
  const supervise = superviseScript(recording);
  const hooks = hookScript(recording);
  const [instructions] = root.blocks;
  const isLate = resultIn(bundle.events)?.stopReason === 'timeout' && !isSlow;
  const budget = { ...budgetOf(recording), ...(isLate && { timeoutMs: 0 }) };
  const left = [...leftOut, ...moments.leftOut, ...notSaid(recording)];
  const session = sessionIn(recording, texts);
  const whole: FixtureDocument = {
    case_id: bundle.run.runId,
    title: titleOf(recording),
    captured: {
      run: bundle.run.runId,
      agent: frozen.agent.name,
      ...(bundle.versions.rules !== null && { rules: bundle.versions.rules }),
      ...(options.until !== undefined && { until: options.until }),
      ...(left.length > 0 && { leftOut: left }),
    },
    ...(instructions?.type === 'text' && { instructions: texts.text(instructions.text) }),
    goal: isCycle(recording) ? briefOf(recording, texts) : start.task.goal,
    task: { ...taskOf(recording), ...session?.task },
    ...(Object.keys(budget).length > 0 && { budget }),
    settings: settingsOf(recording),
    ...policyOf(recording),
    ...(mcp !== undefined && { mcp }),
    tools,
    ...(session !== undefined && { sessions: session.sessions }),
    model: [...script.replies],
    ...(compaction.length > 0 && { compaction: [...compaction] }),
    ...(supervise !== undefined && { supervise }),
    ...(Object.keys(hooks).length > 0 && { hooks }),
    ...(moments.during.length + during.length > 0 && { during: [...during, ...moments.during] }),
    expected:
      options.expected ?? expectationOf({ recording, texts, isPriceKnown: script.isPriceKnown }),
  };
  const named = isCycle(recording) ? withoutGoalTools(whole) : whole;
  return options.own === undefined ? named : ofAgent(named, recording, options.own);
}

/** A model was asked: else the time of the run was over before anything that a case can say. */
function worked({ activities }: Recording): boolean {
  return activities.some(({ kind }) => kind === 'call_model');
}

/** Prompt, schemas, policy, limits and hooks are the configuration's: what the start said over them remains. */
function ofAgent(
  whole: FixtureDocument,
  { start, frozen }: Recording,
  own: NonNullable<CaptureOptions['own']>,
): FixtureDocument {
  const { instructions: _i, policy: _p, hooks: _h, budget: _b, settings: _s, ...said } = whole;
  const { supervise: _, ...rest } = said;
  const tools = Object.entries(whole.tools === 'live' ? {} : (whole.tools ?? {}));
  const answers = tools.filter(([, { recorded = [] }]) => recorded.length > 0);
  const { budget, settings, model } = start;
  const over = { ...settings, ...(model !== undefined && { model }) };
  return {
    ...rest,
    agent: own.agent ?? frozen.agent.name,
    config: own.config,
    ...(budget !== undefined && { budget: { ...budget } as FixtureDocument['budget'] }),
    ...(Object.keys(over).length > 0 && { settings: over as FixtureDocument['settings'] }),
    tools: Object.fromEntries(answers.map(([name, { recorded }]) => [name, { recorded }])),
  };
}

function titleOf({ bundle, frozen }: Recording): string {
  const result = resultIn(bundle.events);
  const end = result === undefined ? 'not ended' : result.stopReason;
  const detail = result?.detail === undefined ? '' : ` (${result.detail})`;
  return `Run ${bundle.run.runId} of ${frozen.agent.name}: ${end}${detail}`;
}

function refuseUnsayable(recording: Recording): void {
  const { start, frozen, opened, heard } = recording;
  if (start.parent !== undefined && !isCycle(recording))
    throw refused(`it is a sub-agent of ${start.parent.id}`);
  if (isCycle(recording) && !worked(recording))
    throw refused('its model was never asked, and the brief is recorded only where it was');
  if (opened.denied !== undefined) {
    throw refused('a gate of its configuration refused the task (refuseTask)');
  }
  const starter = frozen.tools.find(({ kind }) => kind === 'subagent');
  if (starter !== undefined)
    throw refused(`its tool ${starter.name} is of the kind ${starter.kind}`);
  if (heard.some(({ name }) => name === 'mail'))
    throw refused('other agents of its tree wrote letters to it');
  if (recording.activities.some(({ input }) => textAt(input, 'call', 'tool') === MESSAGE_TOOL))
    throw refused('its agent wrote letters to other agents');
  if (isOverTogether(recording))
    throw refused('its time was over in the moment in which an answer arrived');
  const others = frozen.handoffTo?.map(({ agent }) => agent) ?? [];
  if (others.length > 0) throw refused(`its agent hands over to ${others.join(', ')}`);
}

/** The configuration has connectors of its own, and a case about its agent reaches no servers. */
function refuseServers({ opened }: Recording): void {
  const [used] = opened.connectors?.connectors ?? [];
  if (used === undefined) return;
  throw refused(
    `it used the connector ${used.name}, and a case about an agent of a configuration has no servers`,
    'Capture the run without a configuration: then the case has the servers as they were recorded.',
  );
}

/** A busy worker heard of an answer and of the end of its time at once. In a case one of them comes first. */
function isOverTogether({ bundle, activities }: Recording): boolean {
  const stop = bundle.events.find(({ type }) => type === 'stop');
  return (
    resultIn(bundle.events)?.stopReason === 'timeout' &&
    activities.some(
      ({ kind, end, heardAt }) =>
        (kind === 'call_model' || kind === 'execute_tool') &&
        end.kind === 'completed' &&
        heardAt === stop?.stamp.at,
    )
  );
}

/** What a case does without, and a reader should know of. */
function notSaid(recording: Recording): readonly string[] {
  const { start, frozen, bundle } = recording;
  const { settings } = frozen;
  return [
    ...(isCycle(recording)
      ? ['its goal: the brief is the task, and the tools of goals answer from the record']
      : []),
    ...(settings.requireProof ? ['signatures of decisions: nobody in a case proves anything'] : []),
    ...(start.task.metadata === undefined ? [] : ['the metadata of the task']),
    ...(bundle.segments.length > 1
      ? [`its ${bundle.segments.length} segments: the case is played in one`]
      : []),
  ];
}
