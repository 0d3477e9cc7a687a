/** Where the next page of a list begins: opaque to whoever gets it, and worthless in other hands. */
import { z } from 'zod';
import { Problem } from './problem.js';

const place = z.tuple([z.number().int().min(0), z.string().min(1).max(1_000)]);

export interface Place {
  readonly at: number;
  readonly id: string;
}

export function cursorOf(at: number, id: string): string {
  return Buffer.from(JSON.stringify([at, id])).toString('base64url');
}

/** Undefined for what {@link cursorOf} cannot have made. */
export function placeIn(cursor: string): Place | undefined {
  try {
    const [at, id] = place.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return { at, id };
  } catch {
    return undefined;
  }
}

/** Errors: a Problem for what {@link cursorOf} cannot have made. */
export function placeOf(cursor: string): Place {
  const found = placeIn(cursor);
  if (found !== undefined) return found;
  throw new Problem(400, { code: 'invalid', detail: 'The cursor is none of a list here.' });
}
