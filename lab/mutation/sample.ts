/**
 * Random small changes of the core: comparisons, logic, constants. Seeded, so that a survivor can be
 * looked at again.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Mutation } from './judge.js';

interface Operator {
  readonly find: RegExp;
  readonly replace: string;
}

const OPERATORS: readonly Operator[] = [
  { find: / >= /g, replace: ' > ' },
  { find: / > /g, replace: ' >= ' },
  { find: / <= /g, replace: ' < ' },
  { find: / < /g, replace: ' <= ' },
  { find: / === /g, replace: ' !== ' },
  { find: / !== /g, replace: ' === ' },
  { find: / && /g, replace: ' || ' },
  { find: / \|\| /g, replace: ' && ' },
  { find: / \+ 1\b/g, replace: ' + 2' },
  { find: /: true\b/g, replace: ': false' },
  { find: /: false\b/g, replace: ': true' },
];
/** Lines of code around the place, so that it is found exactly once. */
const CONTEXT_LINES_MAX = 6;

/** `count` changes chosen by `seed` out of all that are possible. */
export function sampleMutations(root: string, count: number, seed: number): readonly Mutation[] {
  const all = sourcesBelow(join(root, 'core')).flatMap((file) => mutationsOf(root, file));
  const random = generator(seed);
  const chosen: Mutation[] = [];
  const left = [...all];
  while (chosen.length < count && left.length > 0) {
    const [taken] = left.splice(Math.floor(random() * left.length), 1);
    if (taken !== undefined) chosen.push(taken);
  }
  return chosen;
}

function sourcesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

function mutationsOf(root: string, path: string): readonly Mutation[] {
  const text = readFileSync(path, 'utf8');
  const lines = text.split('\n');
  const file = relative(root, path);
  return lines.flatMap((line, index) => {
    if (!isCode(line)) return [];
    return OPERATORS.flatMap(({ find, replace }) =>
      [...line.matchAll(find)].flatMap((match): readonly Mutation[] => {
        const changed = `${line.slice(0, match.index)}${replace}${line.slice(match.index + match[0].length)}`;
        const place = unique(text, lines, index);
        if (place === undefined) return [];
        return [
          {
            name: `${file}:${index + 1} ${match[0].trim()} to ${replace.trim()}`,
            file,
            find: place,
            replace: place.replace(line, () => changed),
          },
        ];
      }),
    );
  });
}

/** Types and comments decide nothing. */
function isCode(line: string): boolean {
  const trimmed = line.trim();
  return !/^(\*|\/\*|\/\/|import |export type |type |readonly |\| |interface )/.test(trimmed);
}

/** The line with as many of the following lines as make it the only place of its kind. */
function unique(text: string, lines: readonly string[], index: number): string | undefined {
  for (let extra = 0; extra <= CONTEXT_LINES_MAX; extra += 1) {
    const place = lines.slice(index, index + 1 + extra).join('\n');
    if (text.split(place).length === 2) return place;
  }
  return undefined;
}

/** A small, fast generator of numbers from 0 to 1 (mulberry32). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
