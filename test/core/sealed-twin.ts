/**
 * What a test of the core plays is played once more beside it, under the newest sealed rules: the same script, the same
 * inputs, as many steps. Runs of sealed rules command what they always did, so what this twin commands is kept with the
 * test (`__snapshots__`), and an edit of the core that moves it fails the test. Who changes a test writes it anew:
 * `npx jest test/core -u`; for a change of the core that is wrong, because histories would not replay.
 * A fast run plays the twins of one test in six, as the seed draws: `npm test` plays all of them.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sep } from 'node:path';
import type { Script } from './script.js';
import type { Shell } from './shell-state.js';
import { SEED } from '../seed.js';

/** In a fast run one test of so many has twins. */
const FAST_TWINS_OF = 6;

/** Histories are kept of these rules. */
const SEALED = 10;
const DIGEST_CHARS = 8;
/** A twin that is left behind goes on for so many steps. */
const STEPS_MAX = 300;
const CORE = `${sep}test${sep}core${sep}`;

interface Twin {
  readonly shell: Shell;
  threw: boolean;
}

type Act<T> = (shell: Shell) => T;

const twins = new Map<Shell, Twin>();
let isPlaying = false;

/** The rules of a twin; undefined: this test has none, because what it plays is drawn. */
function twinRules({ rules = SEALED }: Script): number | undefined {
  return isPlaying || !isFixed() || isLeftOut() ? undefined : Math.min(rules, SEALED);
}

/** By its name and the seed; what is kept of its twins stays. */
function isLeftOut(): boolean {
  if (process.env['HOLDFAST_FILES'] !== 'fast') return false;
  const { currentTestName = '', snapshotState } = expect.getState();
  const digest = createHash('sha256').update(`${SEED} ${currentTestName}`).digest();
  // Jest reads a name with a backslash back as another one.
  if (digest[0]! % FAST_TWINS_OF === 0 || /[\n\\]/.test(currentTestName)) return false;
  snapshotState.markSnapshotsAsCheckedForTest(currentTestName);
  return true;
}

/** Gives a new shell its twin, if it is to have one. */
export function withTwin(script: Script, make: (script: Script) => Shell): Shell {
  const rules = twinRules(script);
  if (rules === undefined) return make(script);
  const shell = alone(() => make(script));
  const twin = alone(() => attempt(() => make({ ...script, rules })));
  if (twin !== undefined) twins.set(shell, { shell: twin, threw: false });
  return shell;
}

/** Does something with a shell, and with its twin. */
export function withBoth<T>(shell: Shell, act: Act<T>): T {
  const twin = isPlaying ? undefined : twins.get(shell);
  if (twin === undefined) return act(shell);
  return alone(() => {
    if (!twin.threw) {
      twin.threw =
        attempt(() => {
          act(twin.shell);
          return true;
        }) === undefined;
    }
    return act(shell);
  });
}

function alone<T>(act: () => T): T {
  isPlaying = true;
  try {
    return act();
  } finally {
    isPlaying = false;
  }
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

const fixed = new Map<string, boolean>();

/** Nothing that the test plays is drawn by a seed. */
function isFixed(): boolean {
  if (typeof expect !== 'function') return false;
  const { testPath = '', currentTestName } = expect.getState();
  if (currentTestName === undefined || !testPath.includes(CORE)) return false;
  const known =
    fixed.get(testPath) ??
    !/fast-check|seed\.js|generateKeyPair|signerOf/.test(readFileSync(testPath, 'utf8'));
  fixed.set(testPath, known);
  return known;
}

/** After each test what its twins have commanded is looked at, each gone on to its end; outside of tests there are none. */
export function keepsTwins(goOn: Act<boolean>): void {
  if (typeof afterEach !== 'function') return;
  afterEach(() => {
    const commands = commandsOfTwins(goOn);
    if (commands !== undefined) expect(commands).toMatchSnapshot('commands under sealed rules');
  });
}

function commandsOfTwins(goOn: Act<boolean>): string | undefined {
  const digests = [...twins.values()].map(({ shell, threw }) => {
    alone(() =>
      attempt(() => {
        for (let step = 0; !threw && step < STEPS_MAX && goOn(shell); step += 1);
      }),
    );
    const text = JSON.stringify(shell.effects);
    return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_CHARS);
  });
  twins.clear();
  return digests.length === 0 ? undefined : digests.join(' ');
}
