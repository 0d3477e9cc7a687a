// What tests cost, in processor time, which says the same on a busy machine: with HOLDFAST_TEST_COSTS=FILE each test
// file writes a line there, and so do the servers that all of them share: its own seconds, those of the processes that
// it started and that have ended, its name. The dearest first: sort -rn FILE
const { appendFileSync, readFileSync } = require('node:fs');

const FILE = process.env.HOLDFAST_TEST_COSTS;
const TICKS_PER_S = 100;

/** Of this process, or of another one; undefined: nobody wants to know. */
function costsSoFar(pid = 'self') {
  if (FILE === undefined) return undefined;
  // The name of the program, which comes before the figures, may have blanks.
  const [, figures] = /^.*\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const [user, system, startedUser, startedSystem] = figures.split(' ').slice(11, 15).map(Number);
  return {
    own: (user + system) / TICKS_PER_S,
    started: (startedUser + startedSystem) / TICKS_PER_S,
  };
}

/** Undefined: the file has seen none of it before. */
function tellCosts(name, since, until = costsSoFar()) {
  if (until === undefined) return;
  const parts = [until.own - (since?.own ?? 0), until.started - (since?.started ?? 0)];
  appendFileSync(FILE, `${parts.map((s) => s.toFixed(2)).join('\t')}\t${name}\n`);
}

module.exports = { costsSoFar, tellCosts };
