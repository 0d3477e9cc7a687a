/** Builds sampled changes into a copy of the sources, each behind a switch. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Place } from './places.js';

const SWITCH = 'lab/mutation/switch.js';

/** A change is known by its position in `places`. */
export function buildIn(folder: string, places: readonly Place[]): void {
  const numbered = places.map((place, id): Numbered => ({ ...place, id }));
  for (const file of new Set(places.map((place) => place.file))) {
    const path = join(folder, file);
    const own = numbered.filter((place) => place.file === file);
    writeFileSync(path, switchedText(readFileSync(path), file, own));
  }
}

interface Numbered extends Place {
  readonly id: number;
}

function switchedText(bytes: Buffer, file: string, places: readonly Numbered[]): string {
  const from = relative(dirname(file), SWITCH);
  const text = partOf({ bytes, places }, { start: 0, end: bytes.length });
  return `import { switched as $switched } from '${from}'; ${text}`;
}

interface Source {
  readonly bytes: Buffer;
  readonly places: readonly Numbered[];
}

/** The text of a part, the outermost of its places written as questions. */
function partOf({ bytes, places }: Source, part: { start: number; end: number }): string {
  const within = places.filter(({ start, end }) => start >= part.start && end <= part.end);
  const outermost = within.filter(
    (one) =>
      !within.some((other) => other !== one && other.start <= one.start && other.end >= one.end),
  );
  const pieces: string[] = [];
  let at = part.start;
  for (const place of outermost.toSorted((a, b) => a.start - b.start)) {
    const inner = { bytes, places: within.filter((one) => one !== place) };
    pieces.push(bytes.subarray(at, place.start).toString(), question(inner, place));
    at = place.end;
  }
  return [...pieces, bytes.subarray(at, part.end).toString()].join('');
}

function question(source: Source, { id, start, end, around, replace }: Numbered): string {
  const sound = partOf(source, { start, end });
  const changed =
    around === undefined
      ? replace
      : `((${partOf(source, around.left)}) ${replace} (${partOf(source, around.right)}))`;
  return `$switched(${id}, () => (${sound}), () => ${changed})`;
}
