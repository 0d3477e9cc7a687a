/** The figures of all runs, and how they are said. */
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
  readonly turns: number;
  readonly modelRequests: number;
  readonly holds: boolean;
}

export function summarise(reports: readonly RunReport[]): Summary {
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
    kills: sum((report) => report.kills),
    turns: sum((report) => report.turns),
    modelRequests: sum((report) => report.modelRequests),
    holds: reports.every(holds),
  };
}

/** A write without the customer's consent is the recording's doing: it is counted, and holds. */
function holds(report: RunReport): boolean {
  return report.completed && report.replayed && report.failures.length === 0;
}

export function runLine(report: RunReport): string {
  const { killPlan } = report;
  const kill =
    killPlan === undefined
      ? ''
      : ` (${killPlan.when} ${killPlan.at} ${killPlan.nth + 1}, ${killPlan.delayMs} ms)`;
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
  ].join(', ');
}
