/** Replays every recorded call directly on the tools, without a workflow, and compares. */
import { consentsBefore } from './consent.js';
import type { ExpectedOutcome } from './expected-outcomes.js';
import type { Recording } from './recording.js';
import type { RecordedRun, ToolTurn } from './recorded-run.js';
import { isOutage } from './outage.js';
import { recordDifferences } from './record-differences.js';
import { sameText } from './same-text.js';
import type { Database } from './domains/database.js';
import { dumpJson } from './python/python-json.js';
import { objectFromJson } from './python/python-value.js';
import { isWrite, runTool, type Domain } from './domains/domain.js';
import { changedRecords, createMemoryOverlay, openStage } from './domains/world.js';

/** A recorded output that the tools did not give again. */
export interface Difference {
  readonly run: string;
  readonly call: string;
  readonly recorded: string;
  readonly replayed: string;
}

export interface RunReplay {
  readonly run: string;
  readonly outputs: number;
  readonly writes: number;
  readonly writesWithoutConsent: number;
  readonly differences: readonly Difference[];
  /** What the run changed, as plain JSON. */
  readonly changes: unknown;
}

/** Whose tools are replayed, on what. */
export interface Replayed {
  readonly domain: Domain;
  readonly database: Database;
}

/** Replays one run on a world of its own. */
export function replayRun({ domain, database }: Replayed, run: RecordedRun): RunReplay {
  const overlay = createMemoryOverlay();
  const differences: Difference[] = [];
  let outputs = 0;
  let writes = 0;
  let writesWithoutConsent = 0;
  const answers = new Map(toolTurns(run).map((turn) => [turn.id, turn]));
  run.turns.forEach((turn, index) => {
    if (turn.role !== 'assistant') return;
    for (const call of turn.calls) {
      const recorded = answers.get(call.id);
      if (recorded === undefined) continue;
      outputs += 1;
      if (isOutage(recorded.content)) continue;
      const stage = openStage(database, overlay);
      const answer = runTool(domain, stage, {
        name: call.name,
        args: objectFromJson(call.args),
      });
      if (!answer.error) overlay.keep(stage.staged());
      if (!answer.error && isWrite(domain, call.name)) {
        writes += 1;
        if (!consentsBefore(run.turns, index)) writesWithoutConsent += 1;
      }
      if (!sameText(answer.content, recorded.content) || answer.error !== recorded.error) {
        const replayed = answer.content;
        differences.push({ run: run.id, call: call.name, recorded: recorded.content, replayed });
      }
    }
  });
  const changes = JSON.parse(dumpJson(changedRecords(database, overlay))) as unknown;
  return { run: run.id, outputs, writes, writesWithoutConsent, differences, changes };
}

function toolTurns(run: RecordedRun): ToolTurn[] {
  return run.turns.filter((turn) => turn.role === 'tool');
}

export interface WrongRecords {
  readonly run: string;
  readonly records: readonly string[];
}

export interface ReplayFigures {
  readonly runs: number;
  readonly outputs: number;
  readonly outputsEqual: number;
  readonly recordsEqual: number;
  readonly writes: number;
  readonly writesEqual: boolean;
  readonly writesWithoutConsent: number;
  readonly differences: readonly Difference[];
  /** Runs whose changed records are not the expected ones, with what differs. */
  readonly wrongRecords: readonly WrongRecords[];
}

/** Replays all runs; `outcomes` are in the order of the runs, see `matchOutcomes`. */
export function replayRecording(
  replayed: Replayed,
  recording: Recording,
  outcomes: readonly ExpectedOutcome[],
): ReplayFigures {
  const replays = recording.runs.map((run) => replayRun(replayed, run));
  const differences = replays.flatMap((replay) => replay.differences);
  const wrongRecords = replays.flatMap(({ run, changes }, index): readonly WrongRecords[] => {
    const records = recordDifferences(changes, outcomes[index]?.changedRecords ?? {});
    return records.length === 0 ? [] : [{ run, records }];
  });
  const outputs = sum(replays, (replay) => replay.outputs);
  return {
    runs: replays.length,
    outputs,
    outputsEqual: outputs - differences.length,
    recordsEqual: replays.length - wrongRecords.length,
    writes: sum(replays, (replay) => replay.writes),
    writesEqual: replays.every((replay, at) => replay.writes === outcomes[at]?.successfulWrites),
    writesWithoutConsent: sum(replays, (replay) => replay.writesWithoutConsent),
    differences,
    wrongRecords,
  };
}

function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}
