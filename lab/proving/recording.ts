/**
 * Recorded customer conversations in one neutral form, whatever benchmark wrote them.
 *
 * Takes: a results file of tau2-bench, or a list of OpenAI chat transcripts of tau-bench.
 * Gives: runs whose turns a scripted model, a customer and the tools can replay in order.
 * Invariants: (1) no turn before the customer's first words: a greeting is dropped and counted;
 * (2) every tool turn answers a call of the assistant turn before it, in the order of the calls;
 * (3) call ids are unique within a run; (4) every length is bounded.
 */
import { HoldfastError } from '../../core/state/errors.js';
import { aboutFile, readDataFile } from './data-file.js';
import { joinTurns, type RawRun } from './recording-turns.js';
import { isTauBenchFile, readTauBench } from './recording-tau-bench.js';
import { readTau2 } from './recording-tau2.js';
import type { AssistantTurn, ToolTurn, RecordedRun } from './recorded-run.js';

export interface Recording {
  readonly format: 'tau2' | 'tau-bench';
  readonly runs: readonly RecordedRun[];
}

const FORMATS =
  'Give a recording in one of two formats: the results file of tau2-bench, {"simulations": [{"task_id", "messages", …}]}, ' +
  'or the trajectories file of tau-bench, [{"task_id", "traj", …}].';

/** Reads a recording from a file. */
export function readRecording(path: string): Recording {
  return aboutFile(path, () => parseRecording(readDataFile(path)), FORMATS);
}

/** Parses the JSON of a recording; throws a {@link HoldfastError} that says what is wrong where. */
export function parseRecording(data: unknown): Recording {
  const format = isTauBenchFile(data) ? 'tau-bench' : 'tau2';
  const raw = format === 'tau-bench' ? readTauBench(data) : readTau2(data);
  if (raw.length === 0) throw new HoldfastError('InvalidTask', 'The recording has no runs.');
  const taken = new Set<string>();
  return { format, runs: raw.map((run, index) => namedRun(run, index, taken)) };
}

function namedRun(raw: RawRun, index: number, taken: Set<string>): RecordedRun {
  const task = raw.taskId.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 80);
  let id = `task-${task}-trial-${raw.trial}`;
  if (taken.has(id)) id = `${id}-at-${index}`;
  taken.add(id);
  const { messages, ...rest } = raw;
  return { id, index, ...rest, ...joinTurns(messages, `${index} (${id})`) };
}

/** One stretch of a conversation: what the customer says, and what follows until they speak again. */
export interface Exchange {
  readonly userTexts: readonly string[];
  readonly turns: readonly (AssistantTurn | ToolTurn)[];
}

/**
 * Cuts a run where the customer speaks. A last exchange without turns is the customer's farewell:
 * no model reply to it was recorded, so it must not be sent to a model.
 */
export function splitExchanges(run: RecordedRun): readonly Exchange[] {
  const exchanges: { userTexts: string[]; turns: (AssistantTurn | ToolTurn)[] }[] = [];
  for (const turn of run.turns) {
    let current = exchanges.at(-1);
    if (turn.role === 'user') {
      if (current === undefined || current.turns.length > 0) {
        current = { userTexts: [], turns: [] };
        exchanges.push(current);
      }
      current.userTexts.push(turn.text);
    } else {
      current?.turns.push(turn);
    }
  }
  return exchanges;
}

/** The model's replies in order: reply n answers a request that holds n assistant messages. */
export function assistantTurns(run: RecordedRun): readonly AssistantTurn[] {
  return run.turns.filter((turn) => turn.role === 'assistant');
}
