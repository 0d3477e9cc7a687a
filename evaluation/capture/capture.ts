/**
 * A recorded run as a case: its model and its tools answer from the record, people say what they said.
 * Errors: `CaptureRefused`, which names what no case can say.
 */
import { HoldfastError } from '../../core/state/errors.js';
import type { Bundle } from '../../replay/bundle.js';
import type { FixtureDocument } from '../format/document.js';
import { budgetOf, policyOf, sayable, settingsOf, taskOf } from './configuration.js';
import { briefOf, isCycle, withoutGoalTools } from './cycle.js';
import { expectationOf, resultIn, withRunsBelow } from './expectation.js';
import { captureGoal } from './goal-capture.js';
import { isGoal } from './goal-recording.js';
import { hooksOf } from './hook-script.js';
import { superviseScript } from './looks.js';
import { modelScript, PRICE_LEFT_OUT, type CapturedScript } from './model-script.js';
import { momentsBelow, momentsOf } from './moments.js';
import type { Recording } from './recording.js';
import { refused } from './refused.js';
import { bareServers, offeredTool, serversIn } from './served-tools.js';
import { sessionIn } from './sessions.js';
import { summaryScript } from './summaries.js';
import { inTheCase, routesBelow, runsOf, type Below } from './runs-below.js';
import { teamOf } from './team.js';
import { Texts } from './texts.js';
import { toolRecords } from './tool-records.js';
import { employedIn, treeOf, type Tree } from './tree.js';
import { refuseUnsayable, worked } from './unsayable.js';
import { recordingUntil } from './until.js';

/** Of the id of a run before `-until-N`: runs below it have longer ones, and an id has at most 128. */
const ID_CHARS_MAX = 100;

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
    const whole = isGoal(bundle)
      ? goalCase(bundle, options)
      : caseOf(beginningOf(treeOf(bundle), until), options);
    if (until === undefined) return whole;
    // Another case than the whole run, and one folder may have both.
    return { ...whole, case_id: `${whole.case_id.slice(0, ID_CHARS_MAX)}-until-${until}` };
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    // A bundle comes from outside: its values may have any form.
    throw refused(
      `its records cannot be read (${error instanceof Error ? error.message : 'unknown'})`,
    );
  }
}

function beginningOf(tree: Tree, until: number | undefined): Tree {
  if (until === undefined) return tree;
  const { root, members } = tree;
  const [member] = members;
  if (member === undefined) return { root: recordingUntil(root, until), members };
  throw refused(
    `it started the run ${member.place}, and of a tree of runs no beginning is taken`,
    'Capture the whole run, without --until.',
  );
}

function goalCase(bundle: Bundle, { until, own, expected }: CaptureOptions): FixtureDocument {
  const hint = 'Capture the whole goal, or one cycle of it: `holdfast capture FILE --run c2`.';
  if (own !== undefined)
    throw refused('a case about an agent of a configuration is one of a run', hint);
  return captureGoal(bundle, { expected, until });
}

function caseOf(tree: Tree, options: CaptureOptions): FixtureDocument {
  const { root: recording, members } = tree;
  const { bundle, start, root } = recording;
  refuseUnsayable(tree);
  if (options.own !== undefined) refuseForAgent(tree);
  const texts = new Texts(bundle.blobs);
  // Time is part of a run that time ended.
  const isTimed = resultIn(bundle.events)?.stopReason === 'timeout' && worked(recording);
  const isSlow = isTimed || areBeside(members);
  const script = modelScript(recording, texts, isSlow);
  const below = members.map((member) => ({
    ...member,
    script: modelScript(member.recording, texts, isSlow),
  }));
  const { tools, leftOut, during } = toolRecords(tree, texts, isSlow);
  const mcp = serversIn(recording);
  const moments = [momentsOf(tree), ...members.map(momentsBelow)];
  const compaction = summaryScript(recording, texts);
  const supervise = superviseScript(recording);
  const [instructions] = root.blocks;
  const isLate = resultIn(bundle.events)?.stopReason === 'timeout' && !isTimed;
  const budget = { ...budgetOf(recording), ...(isLate && { timeoutMs: 0 }) };
  const notTold = notSaid(recording, options);
  const left = [...leftOut, ...moments.flatMap((one) => one.leftOut), ...notTold];
  const said = [...during, ...moments.flatMap((one) => one.during)];
  const session = sessionIn(recording, texts);
  const isPriceKnown = script.isPriceKnown && below.every((one) => one.script.isPriceKnown);
  const whole: FixtureDocument = {
    case_id: bundle.run.runId,
    title: titleOf(recording),
    captured: originOf(recording, options, [...left, ...unanswered(script, below)]),
    ...(instructions?.type === 'text' && { instructions: texts.text(instructions.text) }),
    goal: isCycle(recording) ? briefOf(recording, texts) : start.task.goal,
    task: { ...taskOf(recording), ...session?.task },
    ...(Object.keys(budget).length > 0 && { budget }),
    settings: settingsOf(recording, routesBelow(tree)),
    ...policyOf(recording),
    ...(mcp !== undefined && { mcp }),
    tools,
    ...teamOf(tree, texts),
    ...(session !== undefined && { sessions: session.sessions }),
    model: script.replies.map((reply) => inTheCase(tree, reply)),
    ...runsOf(tree, below),
    ...(compaction.length > 0 && { compaction: [...compaction] }),
    ...(supervise !== undefined && { supervise }),
    ...hooksOf(tree),
    ...(said.length > 0 && { during: said }),
    expected:
      options.expected ??
      withRunsBelow(
        expectationOf({ recording, texts, isPriceKnown }),
        below.map((one) => ({ ...one, texts, isPriceKnown: one.script.isPriceKnown })),
      ),
  };
  const named = isCycle(recording) ? withoutGoalTools(whole) : whole;
  return options.own === undefined ? named : ofAgent(named, recording, options.own);
}

/** Which letter comes first is a matter of time where runs are at work beside each other. */
function areBeside(members: Tree['members']): boolean {
  const times = members.map(({ recording: { bundle } }) =>
    [bundle.events[0]!, bundle.events.at(-1)!].map(({ stamp }) => stamp.at),
  );
  return (
    members.some(({ recording }) => recording.heard.some(({ name }) => name === 'mail')) &&
    times.some(([from, to], index) =>
      times.slice(index + 1).some(([start, end]) => from! < end! && start! < to!),
    )
  );
}

function originOf(
  { bundle, frozen }: Recording,
  { until }: CaptureOptions,
  leftOut: string[],
): FixtureDocument['captured'] {
  return {
    run: bundle.run.runId,
    agent: frozen.agent.name,
    ...(bundle.versions.rules !== null && { rules: bundle.versions.rules }),
    ...(until !== undefined && { until }),
    ...(leftOut.length > 0 && { leftOut }),
  };
}

/** Prompt, schemas, policy, limits, hooks and other agents are the configuration's: what the start said over them remains. */
function ofAgent(
  whole: FixtureDocument,
  { start, frozen }: Recording,
  own: NonNullable<CaptureOptions['own']>,
): FixtureDocument {
  const { instructions: _i, policy: _p, hooks: _h, namedHooks: _m, ...bare } = whole;
  const { budget: _b, settings: _s, ...said } = bare;
  const { agents: _a, subAgents: _n, offered: _o, handoffTo: _t, supervise: _, ...rest } = said;
  const tools = Object.entries(whole.tools === 'live' ? {} : (whole.tools ?? {}));
  const answers = tools.filter(
    ([, { kind, recorded = [] }]) => kind === 'mcp' || recorded.length > 0,
  );
  const { budget, model } = start;
  const over = { ...sayable(start.settings), ...(model !== undefined && { model }) };
  return {
    ...rest,
    ...(rest.mcp !== undefined && { mcp: bareServers(rest.mcp) }),
    agent: own.agent ?? frozen.agent.name,
    config: own.config,
    ...(budget !== undefined && { budget: { ...budget } as FixtureDocument['budget'] }),
    ...(Object.keys(over).length > 0 && { settings: over as FixtureDocument['settings'] }),
    tools: Object.fromEntries(
      answers.map(([name, tool]) => {
        const { kind, recorded } = tool;
        return [name, kind === 'mcp' ? offeredTool(tool) : { recorded }];
      }),
    ),
  };
}

function titleOf({ bundle, frozen }: Recording): string {
  const result = resultIn(bundle.events);
  const end = result === undefined ? 'not ended' : result.stopReason;
  const detail = result?.detail === undefined ? '' : ` (${result.detail})`;
  return `Run ${bundle.run.runId} of ${frozen.agent.name}: ${end}${detail}`;
}

function broughtAlong({ start: { agents = {} } }: Recording): readonly string[] {
  const names = Object.keys(agents);
  return names.length === 0
    ? []
    : [
        `the agents that its start brought along (${names.join(', ')}): the case has those of its configuration`,
      ];
}

/** The configuration has sub-agents, and agents that take a run over, of its own. */
function refuseForAgent({ root, members }: Tree): void {
  const hint =
    'Capture the run without a configuration: then the case has everything as it was recorded.';
  const [member] = members;
  if (member !== undefined)
    throw refused(
      `it started the run ${member.place}, and a case about an agent of a configuration is one of a single run`,
      hint,
    );
  const [, next] = employedIn(root);
  if (next !== undefined)
    throw refused(
      `it was handed over to ${next.frozen.agent.name}, and a case about an agent of a configuration is one of that agent alone`,
      hint,
    );
}

function unanswered(script: CapturedScript, below: readonly Below[]): readonly string[] {
  const lost = below.flatMap(({ place, script: { leftOut } }) =>
    leftOut.map((one) => `in its run ${place}: ${one}`),
  );
  const isPriceKnown = [{ script }, ...below].every((one) => one.script.isPriceKnown);
  return [...script.leftOut, ...lost, ...(isPriceKnown ? [] : [PRICE_LEFT_OUT])];
}

/** What a case does without, and a reader should know of. */
function notSaid(recording: Recording, { own }: CaptureOptions): readonly string[] {
  const { start, frozen, bundle } = recording;
  const { settings } = frozen;
  return [
    ...(isCycle(recording)
      ? ['its goal: the brief is the task, and the tools of goals answer from the record']
      : []),
    ...(settings.requireProof ? ['signatures of decisions: nobody in a case proves anything'] : []),
    ...(own === undefined ? [] : broughtAlong(recording)),
    ...(start.task.metadata === undefined ? [] : ['the metadata of the task']),
    ...(bundle.segments.length > 1
      ? [`its ${bundle.segments.length} segments: the case is played in one`]
      : []),
  ];
}
