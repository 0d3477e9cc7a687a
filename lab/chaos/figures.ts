/** What a trial has shown, and whether it holds. */
import type { Payment } from './payment-service.js';
import { NO_STALL, type Stall } from './stalls.js';
import type { TrialOptions } from './options.js';

/** The end of a run whose conversation went with the newer store: it waits, and says for what. */
export const NO_TRANSCRIPT = 'its transcript is missing';

export interface RunEnd {
  readonly runId: string;
  /** `completed`, another stop reason, or why there is no result. */
  readonly end: string;
  readonly stall: Stall;
  /** From its start to its end, ms. */
  readonly lastedMs: number;
  /** What a run that has not ended waits for. */
  readonly waitsFor: readonly string[];
}

export interface Figures {
  readonly seed: number;
  readonly runs: number;
  readonly completed: number;
  /** Runs that wait for what an older copy of the store lacks. */
  readonly withoutTranscript: number;
  readonly payments: number;
  /** Beyond one of each run. */
  readonly duplicates: number;
  /** Made before anybody had approved. */
  readonly unapproved: number;
  /** Runs that asked a person what became of their payment. */
  readonly parked: number;
  /** Orders with a key that was known already. */
  readonly repeatedOrders: number;
  readonly workerKills: number;
  readonly serverKills: number;
  readonly databaseKills: number;
  readonly seconds: number;
  /** Of the machine in the last minute, by its cores: above 1 the trial has shared it, or was too much for it. */
  readonly load: number;
  readonly longestAnswerMs: number;
  readonly longestStall: Stall & { readonly runId: string };
  /** How many runs had a stall of so many seconds at least. */
  readonly stalls: { readonly [seconds: number]: number };
  /** What the longest stalls of the runs waited for, the longest first. */
  readonly causes: readonly Cause[];
}

export interface Cause {
  readonly what: string;
  readonly runs: number;
  readonly longestMs: number;
}

export interface Evidence {
  readonly ends: readonly RunEnd[];
  readonly payments: readonly Payment[];
  readonly approvedAt: ReadonlyMap<string, number>;
}

const STEPS_S = [10, 20, 30, 60, 120] as const;

export function countsOf({ ends, payments, approvedAt }: Evidence) {
  const paidRuns = new Set(payments.map(({ runId }) => runId));
  const worst = ends.toSorted((a, b) => b.stall.ms - a.stall.ms)[0];
  const early = payments.filter(({ runId, at }) => at < (approvedAt.get(runId) ?? Infinity));
  const stalledFor = (s: number): number =>
    ends.filter(({ stall }) => stall.ms >= s * 1_000).length;
  return {
    completed: ends.filter(({ end }) => end === 'completed').length,
    withoutTranscript: ends.filter(({ end }) => end === NO_TRANSCRIPT).length,
    payments: payments.length,
    duplicates: payments.length - paidRuns.size,
    unapproved: early.length,
    repeatedOrders: payments.reduce((sum, { requests }) => sum + requests - 1, 0),
    longestStall: { ...(worst?.stall ?? NO_STALL), runId: worst?.runId ?? '' },
    stalls: Object.fromEntries(STEPS_S.map((s) => [s, stalledFor(s)])),
    causes: causesOf(ends),
  };
}

const CAUSES_SHOWN_MAX = 8;

function causesOf(ends: readonly RunEnd[]): readonly Cause[] {
  const causes = new Map<string, Cause>();
  for (const { stall } of ends) {
    // Numbers of effects, and times, differ from run to run.
    const what = stall.waitedFor.replace(/-\d+/g, '').replace(/, begun .*? due/g, '');
    const { runs, longestMs } = causes.get(what) ?? { runs: 0, longestMs: 0 };
    causes.set(what, { what, runs: runs + 1, longestMs: Math.max(longestMs, stall.ms) });
  }
  return [...causes.values()]
    .toSorted((a, b) => b.longestMs - a.longestMs)
    .slice(0, CAUSES_SHOWN_MAX);
}

/** Everything that does not hold, each in one line. */
export function faultsIn(
  figures: Figures,
  { ends, payments }: Pick<Evidence, 'ends' | 'payments'>,
  { stallMax, restored }: Pick<TrialOptions, 'stallMax' | 'restored'>,
): readonly string[] {
  const paid = new Set(payments.map(({ runId }) => runId));
  const unpaid = ends.filter(({ runId, end }) => end === 'completed' && !paid.has(runId));
  const { longestStall, duplicates, unapproved } = figures;
  return [
    ...ends.flatMap(({ runId, end, waitsFor }) =>
      end === 'completed' || (restored && end === NO_TRANSCRIPT)
        ? []
        : [[`${runId}: ${end}`, ...waitsFor].join('; waits for ')],
    ),
    ...unpaid.map(({ runId }) => `${runId} completed without its payment`),
    ...(duplicates === 0 ? [] : [`${duplicates} payments were made twice`]),
    ...(unapproved === 0 ? [] : [`${unapproved} payments were made before their approval`]),
    ...(longestStall.ms <= stallMax * 1_000
      ? []
      : [`${longestStall.runId} made no progress for longer than ${stallMax} s`]),
  ];
}

export function figureLines(figures: Figures): readonly string[] {
  const { longestStall: stall, stalls } = figures;
  const kills =
    `kills: ${figures.workerKills} of workers, ${figures.serverKills} of the server, ` +
    `${figures.databaseKills} of the database`;
  return [
    `runs ${figures.runs}, completed ${figures.completed}, without their transcript ${figures.withoutTranscript}; payments ${figures.payments}, ` +
      `duplicates ${figures.duplicates}, unapproved ${figures.unapproved}, parked ${figures.parked}, ` +
      `orders repeated with their key ${figures.repeatedOrders}`,
    `${kills}; ${figures.seconds.toFixed(1)} s, load ${figures.load.toFixed(1)} for each core; longest wait for a person ${inSeconds(figures.longestAnswerMs)}`,
    `runs with a stall of at least: ${Object.entries(stalls)
      .map(([s, count]) => `${s} s ${count}`)
      .join(', ')}`,
    ...figures.causes.map(
      ({ what, runs, longestMs }) => `  up to ${inSeconds(longestMs)} in ${runs} runs: ${what}`,
    ),
    `longest stall ${inSeconds(stall.ms)}: ${stall.runId}, ${inSeconds(stall.from)} after its start, waited for ${stall.waitedFor}`,
  ];
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
