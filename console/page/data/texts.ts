/** Large texts of a run, a piece at a time. */
import { get, pathOf } from './api.js';
import type { TextPiece } from './api-types.js';

export interface PieceWanted {
  readonly runId: string;
  readonly hash: string;
  readonly chars: number;
  /** Default: its beginning. */
  readonly from?: number;
}

export function readPiece(wanted: PieceWanted, signal?: AbortSignal): Promise<TextPiece> {
  const { runId, hash, chars, from = 0 } = wanted;
  return get(`${pathOf('runs', runId, 'texts', hash)}?from=${from}&chars=${chars}`, signal);
}
