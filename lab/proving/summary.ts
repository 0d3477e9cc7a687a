/** The figures of all runs, and how they are said. */
import { describePlan } from './kill-plan.js';
import type { RunReport } from './prove.js';

export interface Summary {
  readonly runs: number;
  readonly completed: number;
  readonly outputs: number;
  readonly outputsEqual: number;
  readonly recordsEqual: number;
  readonly ledgerRows: number;
  readonly ledgerExpected: number;
  readonly duplicates: number;
  readonly repeated: number;
  readonly parked: { readonly happened: number; readonly notHappened: number };
  readonly unapproved: number;
  readonly withoutConsent: number;
  readonly invariantsOk: boolean;
  readonly replayed: number;
  readonly kills: number;
  readonly pauses: number;
  readonly serverKills: number;
  /** Deaths after which the store still had all that it knew at that time, of all deaths. */
  readonly looks: number;
  readonly modelFaults: number;
  readonly toolFaults: number;
  readonly turns: number;
  readonly modelRequests: number;
  readonly holds: boolean;
}

export function summarise(reports: readonly RunReport[], serverKills = 0): Summary {
  const sum = (amount: (report: RunReport) => number): number =>
    reports.reduce((total, report) => total + amount(report), 0);
  const count = (holds: (report: RunReport) => boolean): number => reports.filter(holds).length;
  return {
    runs: reports.length,
    completed: count((report) => report.completed),
    outputs: sum((report) => report.outputs),
    outputsEqual: sum((report) => report.outputsEqual),
    recordsEqual: count((report) => report.recordsEqual),
    ledgerRows: sum((report) => report.ledgerRows),
    ledgerExpected: sum((report) => report.ledgerExpected),
    duplicates: sum((report) => report.duplicates),
    repeated: sum((report) => report.repeated),
    parked: {
      happened: sum((report) => report.parked.happened),
      notHappened: sum((report) => report.parked.notHappened),
    },
    unapproved: sum((report) => report.unapproved),
    withoutConsent: sum((report) => report.withoutConsent),
    invariantsOk: reports.every((report) => report.invariants.length === 0),
    replayed: count((report) => report.replayed),
    kills: sum((report) => (isPause(report) ? 0 : report.kills)),
    pauses: sum((report) => (isPause(report) ? report.kills : 0)),
    serverKills,
    looks: sum((report) => report.looks),
    modelFaults: sum((report) => report.modelFaults),
    toolFaults: sum((report) => report.toolFaults),
    turns: sum((report) => report.turns),
    modelRequests: sum((report) => report.modelRequests),
    holds: reports.every(holds),
  };
}

function isPause({ killPlan }: RunReport): boolean {
  return killPlan?.kind === 'boundary' && killPlan.pause === true;
}

/** A write without the customer's consent is the recording's doing: it is counted, and holds. */
function holds(report: RunReport): boolean {
  return report.completed && report.replayed && report.failures.length === 0;
}

export function runLine(report: RunReport): string {
  const { killPlan } = report;
  const kill = killPlan === undefined ? '' : ` (${describePlan(killPlan)})`;
  return [
    report.failures.length === 0 ? 'ok  ' : 'FAIL',
    report.id,
    `turns ${report.turns}`,
    `outputs ${report.outputsEqual}/${report.outputs}`,
    `writes ${report.ledgerRows}/${report.ledgerExpected}`,
    `kills ${report.kills}${kill}`,
    `${report.ms} ms`,
  ].join('  ');
}

/** Only of what there was. */
function faultFigures(summary: Summary): string[] {
  const figures: readonly (readonly [string, number])[] = [
    ['killed', summary.kills],
    ['frozen', summary.pauses],
    ['server killed', summary.serverKills],
    ['compared with before', summary.looks],
    ['model faults', summary.modelFaults],
    ['tool faults', summary.toolFaults],
  ];
  return figures.filter(([, count]) => count > 0).map(([name, count]) => `${name} ${count}`);
}

/** What became of calls whose outcome nobody could know. */
export function parkedLine({ parked, repeated }: Summary): string {
  const all = parked.happened + parked.notHappened;
  return (
    `parked as outcome_unknown ${all}, answered happened ${parked.happened}, ` +
    `answered did not happen ${parked.notHappened}, repeated unasked ${repeated}`
  );
}

export function summaryLine(summary: Summary): string {
  return [
    `${summary.runs} runs completed ${summary.completed}`,
    `outputs equal ${summary.outputsEqual}/${summary.outputs}`,
    `records equal ${summary.recordsEqual}/${summary.runs}`,
    `ledger rows ${summary.ledgerRows}/${summary.ledgerExpected}`,
    `duplicates ${summary.duplicates}`,
    `unapproved writes ${summary.unapproved}`,
    `without consent ${summary.withoutConsent}`,
    `invariants ${summary.invariantsOk ? 'ok' : 'VIOLATED'}`,
    `replayed ${summary.replayed}/${summary.runs}`,
    ...faultFigures(summary),
  ].join(', ');
}
