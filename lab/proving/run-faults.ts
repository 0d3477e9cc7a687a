/**
 * What goes wrong in one play of a run, all of it known before it starts.
 * Invariant: the same seed gives the same run the same faults, however many run at once and in what order.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TENANT } from './drive-run.js';
import {
  neverComesTo,
  plansOf,
  planPause,
  type BoundaryPlan,
  type KillMode,
  type KillPlan,
} from './kill-plan.js';
import { boundarySwitch, killSwitch, NO_KILL, type KillSwitch } from './kill-switch.js';
import { NO_MODEL_FAULTS, planModelFaults, type ModelFaults } from './model-faults.js';
import type { PlayedRun } from './played-run.js';
import { HEARTBEAT_MS } from './agent-config.js';
import type { OpenLane, Theatre } from './theatre.js';
import {
  faultyCalls,
  NO_FAULTY_CALLS,
  planToolFault,
  type FaultyCalls,
  type ToolFault,
} from './tool-faults.js';
import { createWitness, type Witness } from './witness.js';

export interface Faults {
  readonly kill: KillMode;
  /** The worker of each run is frozen once, in place of being killed. */
  readonly pause?: boolean;
  /** How often the server is killed while the runs are under way. */
  readonly serverKills?: number;
  readonly modelFaults?: boolean;
  readonly toolFaults?: ToolFault;
}

/** One time that a run is played. */
export interface Play {
  readonly run: PlayedRun;
  readonly runId: string;
  readonly plan?: KillPlan;
}

/** How often each run is played, and how its worker dies; a run that never passes a boundary is left out. */
export function playsOf(
  { kill, pause }: Faults,
  seed: number,
  runs: readonly PlayedRun[],
): readonly Play[] {
  return runs.flatMap((run): readonly Play[] => {
    const runId = `prove-${seed}-${run.index}`;
    if (pause === true) return [{ run, runId, plan: planPause(seed, run) }];
    if (kill === 'none') return [{ run, runId }];
    const plans = plansOf(kill, seed, run);
    if (kill !== 'every') return plans.map((plan) => ({ run, runId, plan }));
    return plans.map((plan, number) => ({ run, runId: `${runId}-${number}`, plan }));
  });
}

const SHOWN_MAX = 20;

/** Which runs are not played, and why; undefined when all are. */
export function leftOutLine(
  kill: KillMode,
  runs: readonly PlayedRun[],
  plays: readonly Play[],
): string | undefined {
  const played = new Set(plays.map(({ run }) => run));
  const ids = runs.filter((run) => !played.has(run)).map(({ id }) => id);
  if (ids.length === 0) return undefined;
  const more = ids.length > SHOWN_MAX ? ` and ${ids.length - SHOWN_MAX} more` : '';
  const named = ids.slice(0, SHOWN_MAX).join(', ');
  return `left out ${ids.length} of ${runs.length} runs, ${neverComesTo(kill)}: ${named}${more}`;
}

export interface RunFaults {
  readonly kill: KillSwitch;
  readonly witness: Witness;
  readonly modelFaults: ModelFaults;
  readonly calls: FaultyCalls;
}

export interface Arming {
  readonly faults: Faults;
  readonly seed: number;
  readonly theatre: Pick<Theatre, 'store'>;
  readonly lane: OpenLane;
}

/** Resolves when everything that is to go wrong is in its place. */
export async function armFaults(arming: Arming, play: Play): Promise<RunFaults> {
  const { faults, seed, theatre } = arming;
  const { run, runId } = play;
  const witness = createWitness(theatre.store, { tenant: TENANT, runId });
  const toolFault =
    faults.toolFaults === undefined ? undefined : planToolFault(faults.toolFaults, seed, run);
  return {
    witness,
    kill: await armKill(arming, play, witness),
    modelFaults: faults.modelFaults === true ? planModelFaults(seed, run) : NO_MODEL_FAULTS,
    calls: toolFault === undefined ? NO_FAULTY_CALLS : faultyCalls(toolFault),
  };
}

function armKill(
  { lane, theatre }: Arming,
  { runId, plan }: Play,
  witness: Witness,
): Promise<KillSwitch> | KillSwitch {
  if (plan === undefined) return NO_KILL;
  if (plan.kind === 'moment') {
    return killSwitch(plan, async () => {
      await lane.crash();
      await witness.look();
    });
  }
  const crash = async (goOn: () => void): Promise<void> => {
    await witness.look();
    if (plan.pause !== true) return lane.crash();
    await lane.freeze(() => givenUp(theatre, runId, plan));
    goOn();
    // It takes itself for alive, and does what it was about to do.
    await sleep(ZOMBIE_MS);
  };
  return boundarySwitch({ plan, runId, lane, crash });
}

const ZOMBIE_MS = 1_500;
/** After the worker's claim has run out, or its heartbeats have. */
const MARGIN_MS = 1_000;

/** Resolves when nobody believes any more that the frozen worker lives. */
async function givenUp(
  { store }: Pick<Theatre, 'store'>,
  runId: string,
  { boundary }: BoundaryPlan,
): Promise<void> {
  const rows = boundary === 'after-claim' ? await store.listLedger(TENANT, { runId }) : [];
  const claimedMs = Math.max(0, ...rows.map((row) => row.claimedUntil - Date.now()));
  await sleep(Math.max(claimedMs, 2 * HEARTBEAT_MS.repeatable) + MARGIN_MS);
}
