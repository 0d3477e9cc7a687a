/**
 * What goes wrong between the runtime and the model, at seeded replies, each once; the same request is
 * answered well when it comes again.
 */
import {
  drawBelow,
  seededRandom,
  type ScriptedAnswer,
  type ScriptedReply,
} from '../../testing/index.js';
import type { PlayedRun } from './played-run.js';

/** Streams of runs are small numbers; these faults are drawn from others. */
const STREAM_OFFSET = 502_000_001;
/** One reply in so many goes wrong, and one of each run. */
const ONE_IN = 4;
/** A stalled reply is given up after this silence. */
export const STALL_MS = 1_500;

export const MODEL_FAULTS = [
  'rate-limited',
  'overloaded',
  'server-error',
  'no-answer',
  'cut',
  'stall',
  'error-event',
] as const;
export type ModelFault = (typeof MODEL_FAULTS)[number];

/** Faults by number of the reply. */
export type ModelFaults = ReadonlyMap<number, ModelFault>;

export const NO_MODEL_FAULTS: ModelFaults = new Map();

export function planModelFaults(seed: number, run: PlayedRun): ModelFaults {
  const random = seededRandom(seed, run.index + STREAM_OFFSET);
  const certain = drawBelow(random, run.replies.length);
  const faults = run.replies.flatMap((_, reply): [number, ModelFault][] => {
    const strikes = drawBelow(random, ONE_IN) === 0 || reply === certain;
    const fault = MODEL_FAULTS[drawBelow(random, MODEL_FAULTS.length)] ?? 'cut';
    return strikes ? [[reply, fault]] : [];
  });
  return new Map(faults);
}

/** The reply after one request that meets the fault. */
export function withFault(reply: ScriptedReply, fault: ModelFault | undefined): ScriptedAnswer {
  return fault === undefined ? reply : [faulty(reply, fault), reply];
}

function faulty(reply: ScriptedReply, fault: ModelFault): ScriptedReply {
  switch (fault) {
    case 'rate-limited':
      return { status: 429, retryAfterSeconds: 1 };
    case 'overloaded':
      return { status: 529 };
    case 'server-error':
      return { status: 500 };
    case 'no-answer':
      return { ...reply, cutAfterBytes: 0 };
    case 'cut':
      return { ...reply, chunks: 3, cutAfterChunks: 3 };
    case 'stall':
      return { ...reply, chunks: 3, stallAfterChunks: 2, stallWith: 'silence' };
    case 'error-event':
      return { ...reply, chunks: 3, errorEventAfterChunks: 2 };
  }
}
