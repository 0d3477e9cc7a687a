/** Sampled changes: where they can be made, and what a copy does that has them built in. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildIn } from '../../lab/mutation/build-in.js';
import { EQUIVALENTS } from '../../lab/mutation/equivalents.js';
import { placesIn, placesOf, samplePlaces } from '../../lab/mutation/places.js';
import { switched, switches } from '../../lab/mutation/switch.js';

const ROOT = join(__dirname, '..', '..');

function changesIn(text: string): readonly string[] {
  return placesOf(text, 'core/a.ts').map(({ code, change }) => `${code}: ${change}`);
}

test('comparisons, logic and constants have places', () => {
  expect(
    changesIn('/** Ünicode */\nconst a = b >= c && d + 1 === e ? { f: true } : false;'),
  ).toEqual([
    'false: false to true',
    'b >= c && d + 1 === e: && to ||',
    'b >= c: >= to >',
    'd + 1 === e: === to !==',
    'd + 1: + 1 to + 2',
    'true: true to false',
  ]);
});

test('types and comments have none', () => {
  expect(
    changesIn('type A = { readonly b: true };\n// a > b\nconst c = d as { e: false };'),
  ).toEqual([]);
});

test('a seed draws the same places again, and each place once', () => {
  const names = samplePlaces(ROOT, 50, 7).map(({ file, start }) => `${file}:${start}`);
  expect(samplePlaces(ROOT, 50, 7).map(({ file, start }) => `${file}:${start}`)).toEqual(names);
  expect(new Set(names).size).toBe(50);
});

test('built in, a place is a question, also inside of another', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-places-'));
  try {
    mkdirSync(join(folder, 'core'));
    const text = 'export const a = b > c && d;\n';
    writeFileSync(join(folder, 'core', 'a.ts'), text);
    buildIn(folder, placesOf(text, 'core/a.ts'));
    const inner = '$switched(1, () => (b > c), () => ((b) >= (c)))';
    expect(readFileSync(join(folder, 'core', 'a.ts'), 'utf8')).toBe(
      "import { switched as $switched } from '../lab/mutation/switch.js'; export const a = " +
        `$switched(0, () => (${inner} && d), () => ((${inner}) || (d)));\n`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe('a switch', () => {
  afterEach(() => {
    switches.active = undefined;
    switches.differed.clear();
  });

  const asked = (id: number, [a, b]: readonly [number, number]): boolean =>
    switched(
      id,
      () => a > b,
      () => a >= b,
    );

  test('leaves a place as it was and notes a change that makes a difference', () => {
    expect(asked(1, [2, 1])).toBe(true);
    expect(asked(2, [1, 1])).toBe(false);
    expect([...switches.differed]).toEqual([2]);
  });

  test('notes a change that would have thrown', () => {
    const broken = () => {
      throw new TypeError('undefined is no object');
    };
    expect(switched<boolean>(3, () => true, broken)).toBe(true);
    expect([...switches.differed]).toEqual([3]);
  });

  test('makes the change that is active', () => {
    switches.active = 2;
    expect(asked(2, [1, 1])).toBe(true);
    expect(asked(1, [1, 1])).toBe(false);
  });
});

test('each change that is listed as equivalent can still be made', () => {
  const places = placesIn(ROOT).map(({ file, code, change }) => `${file}: ${code}: ${change}`);
  for (const { file, code, change, why } of EQUIVALENTS) {
    expect(places).toContain(`${file}: ${code}: ${change}`);
    expect(why.length).toBeGreaterThan(20);
  }
});
