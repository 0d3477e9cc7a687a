/** `npm run explore-replays -- [--runs N] [--seed S]`: random runs on a real server, replayed strictly. */
import { Command } from 'commander';
import { createTemporalEngine } from '../../evaluation/temporal/index.js';
import { replayRandom } from './replay-random.js';
import { newSeed, wholeNumber } from './options.js';

const RUNS_DEFAULT = 200;
const PROGRESS_EVERY = 20;
interface Options {
  readonly runs: number;
  readonly seed?: number;
}

async function main({ runs, seed = newSeed() }: Options): Promise<void> {
  console.log(`seed ${seed}, ${runs} runs`);
  const engine = await createTemporalEngine({ environment: process.env, onProgress: console.log });
  try {
    const played = (count: number): void => {
      if (count % PROGRESS_EVERY === 0) console.log(`${count} histories`);
    };
    const { replayed, skipped, troubles } = await replayRandom({ engine, runs, seed, played });
    for (const trouble of troubles) console.log(trouble);
    console.log(
      `${replayed} histories replayed, ${skipped} cases skipped, ${troubles.length} failed`,
    );
    if (troubles.length === 0 && replayed > 0) return;
    console.log(`again: npm run explore-replays -- --seed ${seed} --runs ${runs}`);
    process.exitCode = 1;
  } finally {
    await engine.stop();
  }
}

const program = new Command('explore-replays')
  .description(
    'Random agents, scripts and outcomes on a real server; every history replays exactly.',
  )
  .option('--runs <n>', 'how many histories', wholeNumber, RUNS_DEFAULT)
  .option('--seed <n>', 'of the cases', wholeNumber)
  .action(main);
program.parseAsync().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
