/**
 * What must hold of a run that was played. The tool service's own ledger decides about effects; the
 * runtime's records only say how it came to them.
 */
import { z } from 'zod';
import type { RunEvent } from '../../core/state/event.js';
import { checkEvent, startChecking } from '../../pure/invariants.js';
import type { Store } from '../../store/store.js';
import { TENANT, type Driven } from './drive-run.js';
import type { ExpectedOutcome } from './expected-outcomes.js';
import type { PlayedRun } from './played-run.js';
import { recordDifferences } from './record-differences.js';
import { sameText } from './same-text.js';
import { serviceJson } from './service-json.js';
import type { Mode } from './tool-store.js';

export interface RunChecks {
  readonly completed: boolean;
  readonly outputs: number;
  readonly outputsEqual: number;
  readonly recordsEqual: boolean;
  /** The first of those that are other ones than expected, with the fields that differ. */
  readonly wrongRecords: readonly string[];
  readonly ledgerRows: number;
  readonly ledgerExpected: number;
  /** Rows of the ledger beyond one per key. */
  readonly duplicates: number;
  /** Calls that reached a service without keys again although nobody had said that they did not happen. */
  readonly repeated: number;
  /** Calls of unknown outcome that waited for a person, by what was answered. */
  readonly parked: { readonly happened: number; readonly notHappened: number };
  /** Rows of the ledger, and starts of writes, that no approval preceded. */
  readonly unapproved: number;
  readonly withoutConsent: number;
  readonly invariants: readonly string[];
  readonly failures: readonly string[];
}

export interface CheckedRun {
  readonly runId: string;
  readonly run: PlayedRun;
  readonly expected: ExpectedOutcome;
  readonly driven: Driven;
  /** Calls whose result may be another than the recorded one. */
  readonly excused: ReadonlySet<string>;
  /** A write did not happen, so the data is not what was recorded. */
  readonly writeMissing: boolean;
}

export interface Evidence {
  readonly store: Store;
  readonly serviceUrl: string;
  readonly mode: Mode;
}

const FAILURES_SHOWN_MAX = 10;

export async function checkRun(evidence: Evidence, checked: CheckedRun): Promise<RunChecks> {
  const { driven, expected, run } = checked;
  const { result, events } = driven;
  const failures: string[] = [];
  const completed = result?.stopReason === 'completed' && result.detail === 'closed';
  if (!completed && result !== undefined) {
    failures.push(`ended ${result.stopReason} ${result.detail ?? ''}`.trim());
  }
  const wrong = await wrongOutputs(evidence.store, checked);
  failures.push(...wrong.filter(({ excused }) => !excused).map(({ message }) => message));
  const changes = await serviceJson(`${evidence.serviceUrl}/changes`, checked.runId);
  const wrongRecords = recordDifferences(changes, expected.changedRecords);
  if (!checked.writeMissing) failures.push(...wrongRecords.map((record) => `record ${record}`));
  const invariants = violations(events);
  failures.push(...invariants);
  const effects = await checkEffects(evidence, checked);
  return {
    completed,
    outputs: run.calls.size,
    outputsEqual: run.calls.size - wrong.length,
    recordsEqual: wrongRecords.length === 0,
    wrongRecords,
    ...effects.figures,
    withoutConsent: [...run.calls.values()].filter(
      (call) => call.writes && !call.error && !call.consented,
    ).length,
    invariants,
    failures: [...driven.failures, ...failures, ...effects.failures].slice(0, FAILURES_SHOWN_MAX),
  };
}

interface WrongOutput {
  readonly message: string;
  readonly excused: boolean;
}

/** Each recorded call whose result is missing or another one. */
async function wrongOutputs(
  store: Store,
  { run, driven, excused }: CheckedRun,
): Promise<readonly WrongOutput[]> {
  const finished = new Map(
    driven.events.flatMap((event) =>
      event.type === 'tool_finished' ? [[event.callId, event]] : [],
    ),
  );
  const wrong: WrongOutput[] = [];
  for (const call of run.calls.values()) {
    const event = finished.get(call.id);
    if (event === undefined) {
      wrong.push({ message: `${call.name} ${call.id} has no result`, excused: false });
      continue;
    }
    const text = await store.getText(TENANT, event.content);
    if (sameText(text, call.content) && (event.status === 'error') === call.error) continue;
    const seen = `${event.status} ${JSON.stringify(text.slice(0, 200))}`;
    wrong.push({
      message: `${call.name} ${call.id} gave ${seen}, not ${JSON.stringify(call.content.slice(0, 200))}`,
      excused: excused.has(call.id),
    });
  }
  return wrong;
}

function violations(events: readonly RunEvent[]): string[] {
  const found: string[] = [];
  let state = startChecking();
  for (const event of events) {
    const checked = checkEvent(state, event);
    state = checked.state;
    found.push(...checked.violations);
  }
  return found;
}

const ledgerSchema = z.object({
  rows: z.array(z.object({ key: z.string().nullable(), tool: z.string(), attempt: z.number() })),
});

const arrivalsSchema = z.object({ rows: z.array(z.object({ key: z.string().nullable() })) });

type EffectFigures = Pick<
  RunChecks,
  'ledgerRows' | 'ledgerExpected' | 'duplicates' | 'repeated' | 'parked' | 'unapproved'
>;

async function checkEffects(
  { serviceUrl, mode }: Evidence,
  { runId, run, expected, driven, writeMissing }: CheckedRun,
): Promise<{ readonly figures: EffectFigures; readonly failures: readonly string[] }> {
  const { rows } = ledgerSchema.parse(await serviceJson(`${serviceUrl}/ledger`, runId));
  const { approvedKeys, startedBare } = startsOf(run, driven.events);
  const arrivals = arrivalsSchema.parse(await serviceJson(`${serviceUrl}/arrivals`, runId)).rows;
  const happened = driven.parked.filter(({ answer }) => answer.kind === 'happened').length;
  const notHappened = driven.parked.length - happened;
  const keys = new Set(rows.map((row) => row.key ?? ''));
  const bareRows = rows.filter((row) => row.key === null || !approvedKeys.has(row.key)).length;
  const figures = {
    ledgerRows: rows.length,
    ledgerExpected: expected.successfulWrites,
    duplicates: rows.length - keys.size,
    // With keys a call may be made again, the key sees to it; without, only when a person said so.
    repeated: mode === 'keys' ? 0 : repeats(arrivals, driven),
    parked: { happened, notHappened },
    unapproved: Math.max(bareRows, startedBare),
  };
  const asked = [...run.calls.values()].filter((call) => call.writes).length;
  const failures = [
    ...(figures.ledgerRows === figures.ledgerExpected || writeMissing
      ? []
      : [`${figures.ledgerRows} ledger rows, expected ${figures.ledgerExpected}`]),
    ...(figures.duplicates === 0 ? [] : [`${figures.duplicates} duplicate ledger rows`]),
    ...(figures.repeated === 0 ? [] : [`${figures.repeated} calls repeated unasked`]),
    ...(figures.unapproved === 0 ? [] : [`${figures.unapproved} unapproved writes`]),
    ...(driven.approvals === asked ? [] : [`${driven.approvals} approvals for ${asked} writes`]),
  ];
  return { figures, failures };
}

/** Arrivals beyond one per key and one more for each time a person said that it did not happen. */
function repeats(
  arrivals: readonly { readonly key: string | null }[],
  { parked, events }: Driven,
): number {
  const allowed = new Map<string, number>();
  for (const event of events) if (event.type === 'tool_started') allowed.set(event.key, 1);
  for (const { callId, answer } of parked) {
    if (answer.kind === 'happened') continue;
    const started = events.find(
      (event) => event.type === 'tool_started' && event.callId === callId,
    );
    const key = started?.type === 'tool_started' ? started.key : '';
    allowed.set(key, (allowed.get(key) ?? 0) + 1);
  }
  for (const { key } of arrivals) allowed.set(key ?? '', (allowed.get(key ?? '') ?? 0) - 1);
  return [...allowed.values()].reduce((sum, left) => sum + Math.max(0, -left), 0);
}

/** Keys of writes that started after their approval, and the number of those that started without. */
function startsOf(run: PlayedRun, events: readonly RunEvent[]) {
  const approved = new Set<string>();
  const approvedKeys = new Set<string>();
  let startedBare = 0;
  for (const event of events) {
    if (event.type === 'approval_resolved' && event.outcome === 'approved') {
      approved.add(event.callId ?? '');
    }
    if (event.type !== 'tool_started') continue;
    if (approved.has(event.callId)) approvedKeys.add(event.key);
    else if (run.calls.get(event.callId)?.writes !== false) startedBare += 1;
  }
  return { approvedKeys, startedBare };
}
