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

/** Of what came after `since`. */
function tellCosts(name, since, until = costsSoFar()) {
  if (since === undefined) return;
  const parts = [until.own - since.own, until.started - since.started];
  appendFileSync(FILE, `${parts.map((s) => s.toFixed(2)).join('\t')}\t${name}\n`);
}

/** Of all that a server has done; `pid` undefined: there was none. */
function tellServerCosts(name, pid) {
  if (FILE === undefined || pid === undefined) return;
  tellCosts(name, { own: 0, started: 0 }, costsSoFar(pid));
}

module.exports = { costsSoFar, tellCosts, tellServerCosts };
