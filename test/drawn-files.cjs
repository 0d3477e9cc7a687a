// Files of tests that start processes, browsers or many runs, and the longest of the others, cost four fifths of what all
// tests do. A run of all tests plays one of every twelve of them, as the seed draws, and everything else; what the seed
// leaves out is a run of its own:
//   HOLDFAST_FILES=all        every file
//   HOLDFAST_FILES=left-out   the files that a run with the same HOLDFAST_SEED leaves out
//   HOLDFAST_FILES=fast       (npm run test:fast) a sixth of the longest, but for the simulation of all cases, and everything else
//   HOLDFAST_FILES=more       of these one of every twelve, and a third of those that start no processes
// Files that failed the last time are always played, and so are those that a command names.
const { relative } = require('node:path');

const STARTS_PROCESSES =
  /^test\/(browser|build|chaos|connection|connectors|devserver|examples|integration|mutation|proving|sandbox|testing)\//;
const WAYS = ['all', 'fast', 'left-out', 'more', undefined];
/** The cases in the simulation: what a fast run is for. */
const ALWAYS_FAST = /\/test\/scenarios\//;
/** One of so many of a fast run is drawn. */
const FAST_OF = 6;
/** One of so many is drawn. */
const DRAWN_OF = 12;
/** So many of these come with `more`: of those that start processes, and of the others. */
const MORE_OF = { processes: 1, others: 4 };
/** Fewer files than these were named by somebody. */
const WHOLE_RUN = { all: 300, fast: 150 };

/** `rankOf`: the longest are the first, and others have no rank; `hasFailed`: whether a file failed the last time. */
function drawnFiles(tests, { rootDir, seed, way, rankOf, hasFailed }) {
  if (!WAYS.includes(way))
    throw new Error(`HOLDFAST_FILES is all, fast, left-out or more, not ${way}.`);
  if (way === 'fast') return fastOf(tests, { seed, rankOf, hasFailed });
  if (way === 'all' || tests.length < WHOLE_RUN.all) return tests;
  const startsProcesses = ({ path }) =>
    STARTS_PROCESSES.test(relative(rootDir, path).replaceAll('\\', '/'));
  // The same in every run, whatever jest knows of durations.
  const dear = tests
    .filter((test) => startsProcesses(test) || rankOf(test) !== undefined)
    .toSorted((one, other) => {
      const longer = (rankOf(one) ?? Infinity) - (rankOf(other) ?? Infinity);
      return longer || (one.path < other.path ? -1 : 1);
    });
  const leftOut = new Set(
    dear.filter((test, place) => offset(place, seed) !== 0 && !hasFailed(test)),
  );
  const isMore = (test, place) =>
    offset(place, seed) <= (startsProcesses(test) ? MORE_OF.processes : MORE_OF.others);
  const more = new Set(dear.filter((test, place) => leftOut.has(test) && isMore(test, place)));
  const ofWay = { 'left-out': leftOut, more }[way];
  const played = tests.filter((test) =>
    ofWay === undefined ? !leftOut.has(test) : ofWay.has(test),
  );
  console.log(`HOLDFAST_SEED=${seed}: ${told(dear, { leftOut, more }, way)}`);
  return played;
}

function fastOf(tests, { seed, rankOf, hasFailed }) {
  if (tests.length < WHOLE_RUN.fast) return tests;
  const dear = tests
    .filter((test) => rankOf(test) !== undefined && !ALWAYS_FAST.test(test.path))
    .toSorted((one, other) => rankOf(one) - rankOf(other));
  const leftOut = new Set(
    dear.filter((test, place) => offset(place, seed) % FAST_OF !== 0 && !hasFailed(test)),
  );
  const drawn = dear.length - leftOut.size;
  console.log(
    `HOLDFAST_SEED=${seed}: ${drawn} of ${dear.length} dear files are drawn; HOLDFAST_FILES=all plays the others`,
  );
  return tests.filter((test) => !leftOut.has(test));
}

/** Neighbours cost about the same: the seed draws which of them has 0. */
function offset(place, seed) {
  const group = Math.floor(place / DRAWN_OF);
  // Two rounds, so that every bit of the seed and of the group counts.
  const mixed = Math.imul(
    Math.imul(seed ^ (group << 7), 2_654_435_761) ^ (group + 1),
    2_246_822_519,
  );
  return (place + ((mixed >>> 12) % DRAWN_OF)) % DRAWN_OF;
}

function told(dear, { leftOut, more }, way) {
  if (way === 'left-out') return `the ${leftOut.size} files that the seed left out`;
  return way === 'more'
    ? `${more.size} of the ${leftOut.size} files that the seed left out`
    : `${dear.length - leftOut.size} of ${dear.length} dear files are drawn; HOLDFAST_FILES=left-out plays the others`;
}

module.exports = { drawnFiles };
