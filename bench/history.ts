/**
 * History of a run: events and bytes per turn at growing lengths, and the exponent with which bytes grow,
 * beside the bare loop that passes the whole conversation and the one that passes deltas.
 */
import { bareSide, heldSide, type Side } from './sides.js';
import { startBenchModel, startBenchServer } from './setting.js';
import { exponentOf } from './statistics.js';

export interface HistoryOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly lengths: readonly number[];
  readonly say: (line: string) => void;
}

export interface HistoryRow {
  readonly turns: number;
  readonly events: number;
  readonly bytes: number;
  readonly eventsPerTurn: number;
  readonly bytesPerTurn: number;
}

export interface HistoryReport {
  readonly held: readonly HistoryRow[];
  readonly bareConversation: readonly HistoryRow[];
  readonly bareDelta: readonly HistoryRow[];
  /** Of a turn in the middle of a run: the start and the end of a run are taken off. */
  readonly eventsPerTurn: number;
  readonly bytesPerTurn: number;
  readonly exponent: number;
}

/** Text of each scripted reply, in bytes: about what recorded replies have. */
const REPLY_TEXT_BYTES = 300;
/** A conversation passed whole grows quadratically; longer runs of it prove nothing more. */
const CONVERSATION_TURNS_MAX = 200;

export async function benchHistory(options: HistoryOptions): Promise<HistoryReport> {
  const server = await startBenchServer(options.environment);
  const model = await startBenchModel(REPLY_TEXT_BYTES);
  const place = { server, model };
  const held = await heldSide(place);
  const delta = await bareSide(place, 'delta');
  const conversation = await bareSide(place, 'conversation');
  try {
    const report = async (name: string, side: Side, lengths: readonly number[]) => {
      const rows: HistoryRow[] = [];
      for (const turns of lengths) {
        const size = { turns, label: 'h' };
        await side.run(size);
        rows.push(rowOf(turns, await side.history(size)));
        const row = rows.at(-1)!;
        options.say(
          `${name}, ${turns} turns: ${row.eventsPerTurn.toFixed(2)} events and ${row.bytesPerTurn.toFixed(0)} bytes per turn`,
        );
      }
      return rows;
    };
    const heldRows = await report('held', held, options.lengths);
    const deltaRows = await report('bare, deltas', delta, options.lengths);
    const short = options.lengths.filter((turns) => turns <= CONVERSATION_TURNS_MAX);
    const conversationRows = await report('bare, whole conversation', conversation, short);
    return {
      held: heldRows,
      bareDelta: deltaRows,
      bareConversation: conversationRows,
      ...slopeOf(heldRows),
      exponent: exponentOf(heldRows.map((row) => ({ x: row.turns, y: row.bytes }))),
    };
  } finally {
    await Promise.all([held.stop(), delta.stop(), conversation.stop()]);
    await model.stop();
    await server.stop();
  }
}

function rowOf(
  turns: number,
  size: { readonly events: number; readonly bytes: number },
): HistoryRow {
  return {
    turns,
    ...size,
    eventsPerTurn: size.events / turns,
    bytesPerTurn: size.bytes / turns,
  };
}

/** What one more turn adds, from the two shortest runs: both lie in one segment. */
function slopeOf(rows: readonly HistoryRow[]) {
  const [a, b] = rows;
  if (a === undefined || b === undefined)
    return { eventsPerTurn: Number.NaN, bytesPerTurn: Number.NaN };
  return {
    eventsPerTurn: (b.events - a.events) / (b.turns - a.turns),
    bytesPerTurn: (b.bytes - a.bytes) / (b.turns - a.turns),
  };
}
