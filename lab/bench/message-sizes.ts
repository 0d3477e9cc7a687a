/**
 * Sizes of messages as recorded conversations have them, where a recording lies beside the project; else
 * sizes made up to be like them. Only lengths are taken from a recording, no text.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRecording } from '../proving/recording.js';
import { type AssistantTurn, type RecordedTurn } from '../proving/recorded-run.js';

export interface MessageSizes {
  /** Where they come from, for the report. */
  readonly source: string;
  /** Bytes of a reply's text and of the result that follows, by turn; endless. */
  at(turn: number): TurnSize;
}

export interface TurnSize {
  readonly replyBytes: number;
  readonly resultBytes: number;
}

const RECORDING = 'material/tau2-bench/trajectories/retail/gpt-4.1_40.json';
/** Median text of a reply and median result of the recorded conversations; long ones now and then. */
const MADE_UP: readonly TurnSize[] = [
  { replyBytes: 0, resultBytes: 30 },
  { replyBytes: 300, resultBytes: 1_000 },
  { replyBytes: 0, resultBytes: 1_000 },
  { replyBytes: 400, resultBytes: 3_300 },
];

/** `folders`: where a folder `material` may lie. */
export function messageSizes(folders: readonly string[]): MessageSizes {
  const file = folders.map((folder) => join(folder, RECORDING)).find((one) => existsSync(one));
  if (file === undefined) return cycle('made up, no recording found', MADE_UP);
  const sizes = readRecording(file).runs.flatMap(({ turns }) => sizesOf(turns));
  return sizes.length === 0
    ? cycle('made up, the recording has no calls', MADE_UP)
    : cycle(`recorded, ${sizes.length} calls of ${RECORDING}`, sizes);
}

export function fixedSizes(size: TurnSize): MessageSizes {
  return cycle(`${size.replyBytes} and ${size.resultBytes} bytes`, [size]);
}

/** What the customer hears between two calls counts as text of the reply with the second. */
function sizesOf(turns: readonly RecordedTurn[]): readonly TurnSize[] {
  const sizes: TurnSize[] = [];
  let replyBytes = 0;
  for (const turn of turns) {
    if (turn.role === 'assistant') replyBytes += textBytes(turn);
    if (turn.role !== 'tool') continue;
    sizes.push({ replyBytes, resultBytes: Buffer.byteLength(turn.content) });
    replyBytes = 0;
  }
  return sizes;
}

function textBytes({ text }: AssistantTurn): number {
  return text === null ? 0 : Buffer.byteLength(text);
}

function cycle(source: string, sizes: readonly TurnSize[]): MessageSizes {
  return { source, at: (turn) => sizes[turn % sizes.length]! };
}
