/** What each recorded run must leave behind: changed records and the number of successful writes. */
import { z } from 'zod';
import { HoldfastError } from '../../core/state/errors.js';
import { aboutFile, checked, readDataFile } from './data-file.js';
import type { Recording } from './recording.js';
import type { RecordedRun } from './recorded-run.js';

/** `{table: {id: full record}}`. */
export type ChangedRecords = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface ExpectedOutcome {
  readonly index: number;
  readonly taskId: string;
  readonly trial: number;
  readonly successfulWrites: number;
  readonly changedRecords: ChangedRecords;
}

export interface ExpectedOutcomes {
  readonly runs: readonly ExpectedOutcome[];
}

const count = z.number().int().nonnegative();

const fileSchema = z
  .array(
    z.object({
      index: count,
      task_id: z.union([z.string().max(500), z.number()]),
      trial: count.nullish(),
      successful_writes: count,
      changed_records: z.record(z.string().max(200), z.record(z.string().max(500), z.unknown())),
    }),
  )
  .max(100_000);

/** Reads expected outcomes from a file. */
export function readExpectedOutcomes(path: string): ExpectedOutcomes {
  return aboutFile(path, () => parseExpectedOutcomes(readDataFile(path)));
}

/** Parses the JSON of expected outcomes. */
export function parseExpectedOutcomes(data: unknown): ExpectedOutcomes {
  const runs = checked(fileSchema, data, 'a file of expected outcomes').map((entry) => ({
    index: entry.index,
    taskId: String(entry.task_id),
    trial: entry.trial ?? 0,
    successfulWrites: entry.successful_writes,
    changedRecords: entry.changed_records,
  }));
  return { runs };
}

/** The expected outcome of each run, in the recording's order; throws when the files do not match. */
export function matchOutcomes(recording: Recording, expected: ExpectedOutcomes): ExpectedOutcome[] {
  const byIndex = new Map(expected.runs.map((outcome) => [outcome.index, outcome]));
  return recording.runs.map((run) => {
    const outcome = byIndex.get(run.index);
    if (outcome === undefined || !isOutcomeOf(outcome, run)) {
      throw new HoldfastError('InvalidTask', `No expected outcome belongs to run ${run.id}.`, {
        hint: 'Give the expected outcomes that were made from this recording.',
      });
    }
    return outcome;
  });
}

function isOutcomeOf(outcome: ExpectedOutcome, run: RecordedRun): boolean {
  return outcome.taskId === run.taskId && outcome.trial === run.trial;
}
