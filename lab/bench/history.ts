/**
 * B3, history of a run on recorded message sizes: events and bytes at growing lengths, and the exponent with
 * which bytes grow, beside the bare loop that passes the whole conversation and the one that passes deltas.
 */
import { bareSide, heldSide, idOf, type Side } from './sides.js';
import type { HistorySize } from './history-size.js';
import { payloadShares, shareLine, type PayloadShares } from './payload-shares.js';
import { machineFacts, type MachineFacts } from './machine.js';
import type { MessageSizes } from './message-sizes.js';
import { startBenchModel, startBenchServer, turnScript, type BenchOptions } from './setting.js';
import { exponentOf } from './statistics.js';

export interface HistoryOptions extends BenchOptions {
  readonly lengths: readonly number[];
  readonly sizes: MessageSizes;
}

export interface HistoryRow extends HistorySize {
  readonly turns: number;
  readonly eventsPerTurn: number;
  readonly bytesPerTurn: number;
  /** By which the store grew meanwhile; absent: the side has none. */
  readonly storeBytesPerTurn?: number;
}

export interface HistoryReport {
  readonly machine: MachineFacts;
  readonly sizes: string;
  readonly held: readonly HistoryRow[];
  readonly bareConversation: readonly HistoryRow[];
  readonly bareDelta: readonly HistoryRow[];
  /** Of a turn in the middle of a run: the start and the end of a run are taken off. */
  readonly eventsPerTurn: number;
  readonly exponents: {
    readonly held: number;
    readonly bareDelta: number;
    readonly bareConversation: number;
  };
  /** Bytes of ours by those of the loop that passes deltas, at each length. */
  readonly ratios: readonly { readonly turns: number; readonly ratio: number }[];
  /** Of the longest runs of one segment: where their bytes are. */
  readonly shares: { readonly held: PayloadShares; readonly bareDelta: PayloadShares };
}

/** A conversation passed whole grows quadratically: near 300 turns the server ends such a run at 50 MiB. */
const CONVERSATION_TURNS_MAX = 200;

/** Turns that fit one segment in any case. */
const SEGMENT_TURNS_MAX = 300;

export async function benchHistory(options: HistoryOptions): Promise<HistoryReport> {
  const { lengths, sizes, say } = options;
  const server = await startBenchServer(options.environment);
  const machine = await machineFacts(server.address);
  const model = await startBenchModel(turnScript(sizes));
  const place = { server, model };
  const held = await heldSide(place);
  const delta = await bareSide(place, 'delta');
  const conversation = await bareSide(place, 'conversation');
  try {
    say(`message sizes: ${sizes.source}`);
    const { storeBytes } = held;
    const heldRows = await rowsOf({ name: 'held', side: held, lengths, storeBytes, say });
    const deltaRows = await rowsOf({ name: 'bare, deltas', side: delta, lengths, say });
    const short = lengths.filter((turns) => turns < CONVERSATION_TURNS_MAX);
    const conversationRows = await rowsOf({
      name: 'bare, whole conversation',
      side: conversation,
      lengths: [...short, CONVERSATION_TURNS_MAX],
      say,
    });
    const shown = Math.max(...lengths.filter((turns) => turns <= SEGMENT_TURNS_MAX));
    const id = { turns: shown, label: 'h' };
    const shares = {
      held: await payloadShares(held.client, idOf('held', id)),
      bareDelta: await payloadShares(delta.client, idOf('bare-delta', id)),
    };
    const report = {
      machine,
      sizes: sizes.source,
      held: heldRows,
      bareDelta: deltaRows,
      bareConversation: conversationRows,
      eventsPerTurn: eventsOfOneMore(heldRows),
      exponents: {
        held: exponentIn(heldRows),
        bareDelta: exponentIn(deltaRows),
        bareConversation: exponentIn(conversationRows),
      },
      ratios: heldRows.map(({ turns, bytes }, index) => ({
        turns,
        ratio: bytes / deltaRows[index]!.bytes,
      })),
      shares,
    };
    for (const line of summaryOf(report)) say(line);
    say(shareLine('held', shares.held, shown));
    say(shareLine('bare with deltas', shares.bareDelta, shown));
    return report;
  } finally {
    await Promise.all([held.stop(), delta.stop(), conversation.stop()]);
    await model.stop();
    await server.stop();
  }
}

interface Series {
  readonly name: string;
  readonly side: Side;
  readonly lengths: readonly number[];
  readonly storeBytes?: () => number;
  readonly say: (line: string) => void;
}

async function rowsOf({
  name,
  side,
  lengths,
  storeBytes,
  say,
}: Series): Promise<readonly HistoryRow[]> {
  const rows: HistoryRow[] = [];
  for (const turns of lengths) {
    const size = { turns, label: 'h' };
    const before = storeBytes?.();
    await side.run(size);
    const grown = storeBytes !== undefined && storeBytes() - before!;
    const history = await side.history(size);
    const eventsPerTurn = history.events / turns;
    const bytesPerTurn = history.bytes / turns;
    const stored = grown !== false && { storeBytesPerTurn: grown / turns };
    rows.push({ turns, ...history, eventsPerTurn, bytesPerTurn, ...stored });
    const inStore = stored === false ? '' : `, ${stored.storeBytesPerTurn.toFixed(0)} in the store`;
    say(
      `${name}, ${turns} turns: ${history.bytes} bytes in ${history.segments} segments, ${eventsPerTurn.toFixed(2)} events and ${bytesPerTurn.toFixed(0)} bytes per turn${inStore}`,
    );
  }
  return rows;
}

function exponentIn(rows: readonly HistoryRow[]): number {
  return exponentOf(rows.map(({ turns, bytes }) => ({ x: turns, y: bytes })));
}

/** What one more turn adds, from the two shortest runs: both lie in one segment. */
function eventsOfOneMore([a, b]: readonly HistoryRow[]): number {
  if (a === undefined || b === undefined) return Number.NaN;
  return (b.events - a.events) / (b.turns - a.turns);
}

function summaryOf({ eventsPerTurn, exponents, ratios }: HistoryReport): readonly string[] {
  const { held, bareDelta, bareConversation } = exponents;
  return [
    `events per turn ${eventsPerTurn.toFixed(2)}`,
    `exponent: held ${held.toFixed(3)}, bare with deltas ${bareDelta.toFixed(3)}, bare with the whole conversation ${bareConversation.toFixed(3)}`,
    `bytes, held by bare with deltas: ${ratios.map(({ turns, ratio }) => `${ratio.toFixed(2)} at ${turns} turns`).join(', ')}`,
  ];
}
