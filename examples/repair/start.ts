/**
 * The example: `npm run example:repair [-- --without-sandbox] [-- --cheat] [-- --keep]`. A repository with failing tests,
 * an agent that claims more than it does, and a goal that believes its own checks alone.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { HoldfastError } from '../../index.js';
import { followGoal } from '../demo/follow-goal.js';
import { reportGoal } from '../demo/goal-report.js';
import { setGoalStage } from '../demo/goal-stage.js';
import { storyteller } from '../demo/goal-story.js';
import { modelWords } from '../demo/model.js';
import { aborted, endOf, exitWith, runDemo, textOf, type Demo } from '../demo/program.js';
import { repairOf } from './repair.js';
import { findSandbox, withoutSandbox, type Sandbox } from './sandbox.js';
import { repairScript } from './script.js';
import { makeWorkshop } from './workshop.js';

const COMMAND = 'npm run example:repair';
const USAGE = `Use: ${COMMAND} -- [--without-sandbox] [--cheat] [--keep]`;

interface Options {
  /** Code of the repository runs with the rights of whoever starts this. */
  readonly withoutSandbox: boolean;
  /** The scripted model never repairs anything. */
  readonly cheat: boolean;
  /** The repository is not removed at the end. */
  readonly keep: boolean;
}

async function repair(options: Options, demo: Demo): Promise<number> {
  const { terminal, closers, stop } = demo;
  const sandbox = sandboxFor(options);
  const workshop = makeWorkshop();
  closers.add(() => {
    if (options.keep) terminal.say(`The repository is in ${workshop.repository}.`);
    else workshop.remove();
  });
  terminal.say('A repository has failing tests. Starting what its repair needs …');
  const setting = setGoalStage({
    ...demo,
    environment: process.env,
    home: resolve(process.env['HOLDFAST_HOME'] ?? '.holdfast'),
    taskQueue: 'repair-agents',
    config: () => repairOf({ workshop, sandbox }),
    script: repairScript(options),
  });
  const stage = await Promise.race([setting, aborted(stop.signal)]);
  if (stage === undefined) return endOf(stop.signal);
  const { client, server, model, parts } = stage;
  introduce(demo, [
    ['Temporal server', `${server.address} (${server.how})`],
    ['Model', modelWords(model)],
    ['Repository', workshop.repository],
    ['Sandbox', sandboxWords(sandbox)],
  ]);
  const started = await client.startGoal({ goal: parts.goal, caller: 'you@terminal' });
  const story = storyteller({ paint: terminal.paint, timeZone: 'UTC' });
  const result = await followGoal({
    client,
    goal: started,
    signal: stop.signal,
    onEvent: (event) => story.tell(event).forEach((line) => terminal.say(line)),
  });
  if (result === undefined) {
    await started.cancel({ by: 'you@terminal' }).catch(() => undefined);
    return endOf(stop.signal);
  }
  const code = reportGoal(terminal, { result, model });
  terminal.say(`Look: npx holdfast goal show ${started.goalId}`);
  return code;
}

function introduce({ terminal }: Demo, lines: readonly (readonly [string, string])[]): void {
  for (const [name, text] of lines) terminal.say(`  ${name.padEnd(18)}${text}`);
  terminal.say();
}

/** Errors: there is none, and nobody said that it can be done without. */
function sandboxFor(options: Options): Sandbox {
  if (options.withoutSandbox) return withoutSandbox();
  const found = findSandbox(process.env);
  if (found.kind === 'found') return found.sandbox;
  throw new HoldfastError('Usage', `There is no sandbox: ${found.because}. Nothing was started.`, {
    hint: `Install bubblewrap (apt install bubblewrap), or let the code of the repository run with your own rights: ${COMMAND} -- --without-sandbox`,
  });
}

function sandboxWords({ name }: Sandbox): string {
  return name === 'bubblewrap'
    ? 'bubblewrap: no network, nothing to write to; limits of time, memory and processes'
    : 'NONE: the code that is tested can do whatever you can do';
}

function parseOptions(argv: readonly string[]): Options {
  try {
    const flag = { type: 'boolean' } as const;
    const { values } = parseArgs({
      args: [...argv],
      options: { 'without-sandbox': flag, cheat: flag, keep: flag },
    });
    const { 'without-sandbox': without = false, cheat = false, keep = false } = values;
    return { withoutSandbox: without, cheat, keep };
  } catch (cause) {
    throw new HoldfastError('Usage', textOf(cause), { hint: USAGE, cause });
  }
}

async function main(argv: readonly string[]): Promise<number> {
  const options = parseOptions(argv);
  return runDemo({ yes: true }, (demo) => repair(options, demo));
}

exitWith(main(process.argv.slice(2)));
