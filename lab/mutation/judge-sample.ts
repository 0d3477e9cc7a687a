/** A sample of small changes of the core: cases look at each first, then tests of the core at those left. */
import { buildIn } from './build-in.js';
import { testAll } from './core-tests.js';
import { equivalentOf } from './equivalents.js';
import { samplePlaces, type Place } from './places.js';
import { playAll } from './players.js';

/** Fewer changes say too little to pass or fail. */
const DECIDING_MIN = 200;
/** Of all sampled changes, in percent. */
const NOTICED_MIN = 90;
const EQUIVALENT_MAX = 5;

interface Sampling {
  readonly root: string;
  /** A copy of the sources, which is changed. */
  readonly folder: string;
  /** Changes per seed. */
  readonly count: number;
  readonly seeds: readonly number[];
}

type Say = (line: string) => void;

/** True when enough of them are noticed, and few enough are listed as equivalent. */
export async function judgeSample(
  { root, folder, count, seeds }: Sampling,
  say: Say,
): Promise<boolean> {
  say(`seed ${seeds.join(' ')}`);
  const samples = seeds.map((seed) => samplePlaces(root, count, seed));
  // A place that two seeds draw is one change.
  const places = [...new Map(samples.flat().map((one) => [keyOf(one), one])).values()];
  buildIn(folder, places);
  const left: number[] = [];
  await playAll(folder, places.length, (id, by) => {
    if (by === undefined) left.push(id);
    else say(`noticed   ${places[id]!.name}: ${by}`);
  });
  say(`${share(places.length - left.length, places)} noticed by cases`);
  const byTests = testAll(folder, left);
  for (const [id, file] of byTests) say(`noticed   ${places[id]!.name}: ${file}`);
  const alive = left.filter((id) => !byTests.has(id)).toSorted((a, b) => a - b);
  const keys = (ids: Iterable<number>) => new Set([...ids].map((id) => keyOf(places[id]!)));
  const [toTests, toNobody] = [keys(byTests.keys()), keys(alive)];
  for (const [at, seed] of seeds.entries()) {
    const among = (some: ReadonlySet<string>) =>
      samples[at]!.filter((one) => some.has(keyOf(one))).length;
    const [tests, nobody] = [among(toTests), among(toNobody)];
    const cases = samples[at]!.length - tests - nobody;
    say(
      `seed ${seed}: ${cases} noticed by cases, ${tests} by tests of the core, ${nobody} by none`,
    );
  }
  return summed(places, alive, say);
}

function keyOf({ name, start, end }: Place): string {
  return `${name} ${start} ${end}`;
}

function summed(places: readonly Place[], alive: readonly number[], say: Say): boolean {
  let equivalent = 0;
  for (const id of alive) {
    const place = places[id]!;
    const reason = equivalentOf(place)?.why;
    if (reason !== undefined) equivalent += 1;
    say(
      `${reason === undefined ? 'SURVIVED ' : 'same      '} ${place.name}: ${reason ?? place.code}`,
    );
  }
  const noticed = places.length - alive.length;
  say(`${share(noticed, places)} noticed by cases or tests of the core`);
  say(`${share(equivalent, places)} listed as equivalent`);
  return (
    places.length < DECIDING_MIN ||
    (100 * noticed >= NOTICED_MIN * places.length &&
      100 * equivalent <= EQUIVALENT_MAX * places.length)
  );
}

function share(part: number, { length }: readonly Place[]): string {
  return `${part} of ${length} (${((100 * part) / Math.max(1, length)).toFixed(1)} %)`;
}
