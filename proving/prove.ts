/**
 * Plays recorded runs through the real workflow, several at once, and checks each of them.
 * Invariant: the same seed gives each run the same kill, however many run at once and in what order.
 */
import { HoldfastError } from '../core/errors.js';
import { replayRuns } from '../testing/index.js';
import { checkRun, type RunChecks } from './check-run.js';
import { createClosers } from './closers.js';
import type { Domain } from './domains/domain.js';
import { driveRun } from './drive-run.js';
import type { ExpectedOutcome } from './expected-outcomes.js';
import { planKill, type KillPlan } from './kill-plan.js';
import { killSwitch, NO_KILL } from './kill-switch.js';
import { inventedTools, playedRun, type PlayedRun } from './played-run.js';
import type { OnStage } from './recorded-models.js';
import type { Recording } from './recording.js';
import { openTheatre, type OpenLane, type Theatre } from './theatre.js';
import type { Mode } from './tool-store.js';

export interface ProveOptions {
  readonly domain: Domain;
  /** Whether the tool service honours idempotency keys; the tools are declared accordingly. */
  readonly mode: Mode;
  readonly recording: Recording;
  /** In the order of the recording's runs, see `matchOutcomes`. */
  readonly outcomes: readonly ExpectedOutcome[];
  readonly databaseFiles: readonly string[];
  /** Which runs; default all. */
  readonly choose?: (run: PlayedRun) => boolean;
  readonly runsMax?: number;
  readonly kill: 'none' | 'random';
  readonly seed: number;
  readonly concurrency: number;
  /** What a person who watches should know. */
  readonly say: (line: string) => void;
  readonly onRun?: (report: RunReport) => void;
  /** Ends everything early: what runs is left, what is open is closed, and the abort's reason is thrown. */
  readonly signal: AbortSignal;
}

export interface RunReport extends RunChecks {
  readonly id: string;
  readonly runId: string;
  readonly index: number;
  /** Replies of the model. */
  readonly turns: number;
  readonly modelRequests: number;
  readonly approvals: number;
  readonly kills: number;
  readonly killPlan?: KillPlan;
  readonly replayed: boolean;
  readonly ms: number;
}

/** Without kills few workers do; a kill must hit one run only, so there each has its own. */
const WORKERS_WITHOUT_KILLS_MAX = 2;
const DEFAULT_INSTRUCTIONS = 'You are a customer service agent.';
/** Instructions travel to workers as a command-line argument, which systems limit. */
const INSTRUCTIONS_CHARS_MAX = 60_000;

/** Plays the runs. Errors: InvalidTask for a recording that cannot be played. */
export async function prove(options: ProveOptions): Promise<readonly RunReport[]> {
  const { recording, domain, kill, concurrency, say, signal } = options;
  const chosen = chosenRuns(options);
  const { systemPrompt } = recording.runs[0] ?? {};
  const closers = createClosers();
  try {
    const theatre = await openTheatre(
      {
        domain,
        mode: options.mode,
        databaseFiles: options.databaseFiles,
        instructions: (systemPrompt ?? DEFAULT_INSTRUCTIONS).slice(0, INSTRUCTIONS_CHARS_MAX),
        inventedTools: inventedTools(chosen, domain),
        lanes: Math.min(
          chosen.length,
          concurrency,
          kill === 'random' ? Infinity : WORKERS_WITHOUT_KILLS_MAX,
        ),
        say,
        signal,
      },
      closers,
    );
    const reports = await playAll({ ...options, theatre }, chosen);
    signal.throwIfAborted();
    say(`replaying ${reports.length} histories`);
    return await withReplays(theatre, reports);
  } finally {
    await closers.closeAll();
  }
}

function chosenRuns({
  recording,
  domain,
  runsMax,
  choose,
  say,
}: ProveOptions): readonly PlayedRun[] {
  const playable = recording.runs.slice(0, runsMax).flatMap((run) => playedRun(run, domain) ?? []);
  const skipped = Math.min(recording.runs.length, runsMax ?? Infinity) - playable.length;
  if (skipped > 0) say(`skipped ${skipped} runs in which nobody answered the customer`);
  const chosen = choose === undefined ? playable : playable.filter(choose);
  if (chosen.length > 0) return chosen;
  throw new HoldfastError('InvalidTask', 'The recording has no such run to play.');
}

interface Proving extends ProveOptions {
  readonly theatre: Theatre;
}

async function playAll(
  proving: Proving,
  runs: readonly PlayedRun[],
): Promise<readonly RunReport[]> {
  const waiting = [...runs];
  const reports: RunReport[] = [];
  const serve = async (_: unknown, number: number): Promise<void> => {
    const { lanes } = proving.theatre;
    const lane = lanes[number % lanes.length];
    for (let run = waiting.shift(); run !== undefined && lane; run = waiting.shift()) {
      if (proving.signal.aborted) return;
      const report = await play(proving, lane, run);
      reports.push(report);
      if (!proving.signal.aborted) proving.onRun?.(report);
    }
  };
  await Promise.all(Array.from({ length: Math.min(runs.length, proving.concurrency) }, serve));
  return reports.toSorted((a, b) => a.index - b.index);
}

async function play(proving: Proving, lane: OpenLane, run: PlayedRun): Promise<RunReport> {
  const { theatre, domain, mode, seed, signal } = proving;
  const { store, stage, serviceUrl } = theatre;
  const started = performance.now();
  const runId = `prove-${seed}-${run.index}`;
  const plan = proving.kill === 'random' ? planKill(seed, run) : undefined;
  const kill = plan === undefined ? NO_KILL : killSwitch(plan, () => lane.crash());
  const played: OnStage = { run, kill, modelRequests: 0, differences: [] };
  stage.set(runId, played);
  const driven = await driveRun({
    agent: domain.name,
    mode,
    serviceUrl,
    client: lane.client,
    store,
    run,
    runId,
    kill,
    signal,
  });
  await kill.settled();
  const ms = Math.round(performance.now() - started);
  await lane.ready();
  stage.delete(runId);
  const expected = proving.outcomes[run.index];
  if (expected === undefined) throw new HoldfastError('Internal', `No outcome for ${run.id}.`);
  const checks = await checkRun({ store, serviceUrl, mode }, { runId, run, expected, driven });
  return {
    id: run.id,
    runId,
    index: run.index,
    turns: run.replies.length,
    modelRequests: played.modelRequests,
    approvals: driven.approvals,
    kills: kill.kills(),
    ...(plan !== undefined && { killPlan: plan }),
    replayed: false,
    ms,
    ...checks,
    failures: [...played.differences, ...checks.failures],
  };
}

async function withReplays(
  { address }: Theatre,
  reports: readonly RunReport[],
): Promise<readonly RunReport[]> {
  const broken = await replayRuns(
    { address },
    reports.map((report) => report.runId),
  );
  return reports.map((report) => {
    const failure = broken.get(report.runId);
    if (failure === undefined) return { ...report, replayed: true };
    return { ...report, failures: [...report.failures, `does not replay: ${failure}`] };
  });
}
