/** `npm run explore -- [--goals | --quick-reads] [--runs N] [--seed S] [--path P]`: random runs, or goals, in the simulation. */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { createSimulationEngine } from '../../evaluation/simulation/index.js';
import { arbitraryCase } from './arbitrary-case.js';
import { arbitraryGoal } from './arbitrary-goal.js';
import { explore } from './explore.js';
import { withQuickReads } from './quick-reads.js';
import { newSeed, wholeNumber } from './options.js';

const RUNS_DEFAULT = 5_000;
const PROGRESS_EVERY = 1_000;
const say = (line: string): void => console.log(line);

interface Options {
  readonly runs: number;
  readonly seed?: number;
  readonly path?: string;
  readonly goals?: true;
  readonly quickReads?: true;
}

async function main({ runs, seed: given, path, goals, quickReads }: Options): Promise<void> {
  const seed = given ?? newSeed();
  say(`seed ${seed}, ${runs} runs`);
  const engine = createSimulationEngine();
  const began = performance.now();
  const played = (count: number): void => {
    if (count % PROGRESS_EVERY === 0) say(`${count} runs`);
  };
  const found = await explore({
    engine,
    runs,
    seed,
    played,
    ...(path !== undefined && { path }),
    ...(goals && { cases: arbitraryGoal }),
    ...(quickReads && { cases: arbitraryCase.map(withQuickReads) }),
  });
  await engine.stop();
  const seconds = (performance.now() - began) / 1_000;
  if (found === undefined) {
    say(`${runs} runs, none breaks an invariant (${Math.round((60 * runs) / seconds)} per minute)`);
    return;
  }
  const file = join(tmpdir(), `holdfast-random-${seed}.json`);
  writeFileSync(file, `${JSON.stringify(found.document, null, 2)}\n`);
  say(`FAILED: ${found.trouble}`);
  say(`the smallest case: ${file}`);
  say(
    `again: npm run explore -- ${goals ? '--goals ' : quickReads ? '--quick-reads ' : ''}--seed ${found.seed} --path ${found.path}`,
  );
  process.exitCode = 1;
}

const program = new Command('explore')
  .description('Random agents, scripts, outcomes, signals and crashes, in the simulation.')
  .option('--runs <n>', 'how many', wholeNumber, RUNS_DEFAULT)
  .option('--seed <n>', 'of the first run', wholeNumber)
  .addOption(new Option('--goals', 'goals in place of single runs').conflicts('quickReads'))
  .option('--quick-reads', 'reads are tried within the tasks that decide')
  .option('--path <path>', 'of a failure, as it was printed')
  .action(main);
program.parseAsync().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
