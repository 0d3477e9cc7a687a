/**
 * Plays recorded runs through the real workflow, several at once, and checks each of them.
 * Invariant: the same seed gives each run the same kill, however many run at once and in what order.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError } from '../../core/state/errors.js';
import { bundleText } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import { replayRuns } from '../../testing/index.js';
import { checkRecovery } from './check-recovery.js';
import { checkRun, type RunChecks } from './check-run.js';
import { createClosers } from './closers.js';
import { chosenRuns, type Choice } from './chosen-runs.js';
import { driveRun, TENANT } from './drive-run.js';
import type { ExpectedOutcome } from './expected-outcomes.js';
import { describePlan, neverComesTo, type KillPlan } from './kill-plan.js';
import { inventedTools } from './played-run.js';
import { onStage } from './recorded-models.js';

import { armFaults, leftOutLine, playsOf, type Faults, type Play } from './run-faults.js';
import {
  NO_SERVER_KILLS,
  planServerKills,
  serverKiller,
  type ServerKiller,
} from './server-killer.js';
import { openTheatre, type OpenLane, type Theatre } from './theatre.js';
import { excusedCalls } from './tool-faults.js';
import type { Mode } from './tool-store.js';
import { readAllEvents, type Witness } from './witness.js';

export interface ProveOptions extends Faults, Choice {
  /** Whether the tool service honours idempotency keys; the tools are declared accordingly. */
  readonly mode: Mode;
  /** In the order of the recording's runs, see `matchOutcomes`. */
  readonly outcomes: readonly ExpectedOutcome[];
  readonly databaseFiles: readonly string[];
  /** Reads are tried within the tasks that decide. */
  readonly quickReads?: boolean;
  /** Default: a file of its own. */
  readonly storePlace?: string;
  readonly seed: number;
  readonly concurrency: number;
  readonly onRun?: (report: RunReport) => void;
  readonly onServerKill?: () => void;
  /** Gets the bundle of each run. */
  readonly bundles?: string;
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
  /** Deaths of anything at which what the store knew was taken down and found again in the end. */
  readonly looks: number;
  readonly modelFaults: number;
  readonly toolFaults: number;
  readonly killPlan?: KillPlan;
  readonly replayed: boolean;
  readonly ms: number;
}

const NAMESPACE = 'default';
/** Without kills few workers do; a kill must hit one run only, so there each has its own. */
const WORKERS_WITHOUT_KILLS_MAX = 2;
const DEFAULT_INSTRUCTIONS = 'You are a customer service agent.';
/** Instructions travel to workers as a command-line argument, which systems limit. */
const INSTRUCTIONS_CHARS_MAX = 60_000;

/** Plays the runs. Errors: InvalidTask for a recording that cannot be played. */
export async function prove(options: ProveOptions): Promise<readonly RunReport[]> {
  const { recording, domain, kill, pause, seed, concurrency, storePlace, say, signal } = options;
  const chosen = chosenRuns(options);
  const plays = playsOf(options, seed, chosen);
  if (plays.length === 0) {
    throw new HoldfastError(
      'InvalidTask',
      `There is nothing to play: ${chosen.length} runs, ${neverComesTo(kill)}.`,
      {
        hint: 'Choose other runs with --runs or --only, or another boundary with --kill.',
      },
    );
  }
  const leftOut = leftOutLine(kill, chosen, plays);
  if (leftOut !== undefined) say(leftOut);
  if (plays.length !== chosen.length) say(`${plays.length} kills in ${chosen.length} runs`);
  const { systemPrompt } = recording.runs[0] ?? {};
  const closers = createClosers();
  try {
    const theatre = await openTheatre(
      {
        domain,
        mode: options.mode,
        quickReads: options.quickReads === true,
        databaseFiles: options.databaseFiles,
        instructions: (systemPrompt ?? DEFAULT_INSTRUCTIONS).slice(0, INSTRUCTIONS_CHARS_MAX),
        inventedTools: inventedTools(chosen, domain),
        lanes: Math.min(
          plays.length,
          concurrency,
          kill !== 'none' || pause === true ? Infinity : WORKERS_WITHOUT_KILLS_MAX,
        ),
        ...(storePlace !== undefined && { storePlace }),
        say,
        signal,
      },
      closers,
    );
    const witnesses = new Set<Witness>();
    const killer = killerOf(options, theatre, { plays, witnesses });
    const reports = await playAll({ ...options, theatre, killer, witnesses }, plays);
    await killer.settled();
    signal.throwIfAborted();
    say(`replaying ${reports.length} histories`);
    if (options.bundles !== undefined) await writeBundles(theatre, reports, options.bundles);
    return await withReplays(theatre, reports);
  } finally {
    await closers.closeAll();
  }
}

interface Proving extends ProveOptions {
  readonly theatre: Theatre;
  readonly killer: ServerKiller;
  /** Of the runs under way. */
  readonly witnesses: Set<Witness>;
}

function killerOf(
  { serverKills, seed, onServerKill }: ProveOptions,
  { server }: Theatre,
  { plays, witnesses }: { readonly plays: readonly Play[]; readonly witnesses: Set<Witness> },
): ServerKiller {
  if (serverKills === undefined) return NO_SERVER_KILLS;
  const requests = plays.reduce((sum, { run }) => sum + run.replies.length, 0);
  return serverKiller({
    server,
    plan: planServerKills(seed, serverKills, requests),
    onKill: async () => {
      onServerKill?.();
      await Promise.all([...witnesses].map((witness) => witness.look()));
    },
  });
}

async function playAll(proving: Proving, plays: readonly Play[]): Promise<readonly RunReport[]> {
  const waiting = [...plays];
  const reports: RunReport[] = [];
  const serve = async (_: unknown, number: number): Promise<void> => {
    const { lanes } = proving.theatre;
    const lane = lanes[number % lanes.length];
    for (let next = waiting.shift(); next !== undefined && lane; next = waiting.shift()) {
      if (proving.signal.aborted) return;
      const report = await play(proving, lane, next);
      reports.push(report);
      if (!proving.signal.aborted) proving.onRun?.(report);
    }
  };
  await Promise.all(Array.from({ length: Math.min(plays.length, proving.concurrency) }, serve));
  return reports.toSorted((a, b) => a.index - b.index);
}

async function play(proving: Proving, lane: OpenLane, next: Play): Promise<RunReport> {
  const { theatre, domain, mode, seed, signal, killer, witnesses } = proving;
  const { store, stage, serviceUrl } = theatre;
  const { run, runId, plan } = next;
  const started = performance.now();
  const { kill, witness, modelFaults, calls } = await armFaults(
    { faults: proving, seed, theatre, lane },
    next,
  );
  const excused = excusedCalls(run, calls);
  const inPieces = plan?.kind === 'boundary' && plan.boundary === 'mid-stream';
  const onRequest = (): void => killer.requested();
  const played = onStage({ run, kill, modelFaults, calls, excused, inPieces, onRequest });
  stage.set(runId, played);
  witnesses.add(witness);
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
  witnesses.delete(witness);
  const ms = Math.round(performance.now() - started);
  await lane.ready();
  stage.delete(runId);
  const expected = proving.outcomes[run.index];
  if (expected === undefined) throw new HoldfastError('Internal', `No outcome for ${run.id}.`);
  const writeMissing = calls.plan?.fault === '503-forever' && calls.plan.writes;
  const checks = await checkRun(
    { store, serviceUrl, mode },
    { runId, run, expected, driven, excused, writeMissing },
  );
  const stored = await readAllEvents(store, { tenant: TENANT, runId });
  const recovery = checkRecovery({ driven, stored, witness, calls });
  const missed =
    plan === undefined || kill.kills() > 0 ? [] : [`its worker was never ${describePlan(plan)}`];
  return {
    id: run.id,
    runId,
    index: run.index,
    turns: run.replies.length,
    modelRequests: played.modelRequests,
    approvals: driven.approvals,
    kills: kill.kills(),
    looks: witness.looks(),
    modelFaults: modelFaults.size,
    toolFaults: calls.plan === undefined ? 0 : 1,
    ...(plan !== undefined && { killPlan: plan }),
    replayed: false,
    ms,
    ...checks,
    failures: [...played.differences, ...checks.failures, ...recovery, ...missed],
  };
}

async function writeBundles(
  { address, store }: Theatre,
  reports: readonly RunReport[],
  folder: string,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { runId } of reports) {
    const place = { address, namespace: NAMESPACE, store };
    const bundle = await exportRun(place, { tenant: TENANT, runId });
    await writeFile(join(folder, `${runId}.bundle.json`), bundleText(bundle));
  }
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
