/** Large texts of a run, a piece at a time. */
import { get, pathOf } from './api.js';
import type { TextPiece } from './api-types.js';

export interface PieceWanted {
  readonly runId: string;
  readonly hash: string;
  readonly chars: number;
}

export function readPiece(wanted: PieceWanted, signal?: AbortSignal): Promise<TextPiece> {
  const { runId, hash, chars } = wanted;
  return get(`${pathOf('runs', runId, 'texts', hash)}?chars=${chars}`, signal);
}
