/** `npm run seal -- record | commands | prove | base | speed`: keeps histories, and holds today's code to them. */
import { Command } from 'commander';
import { RULES_VERSION } from '../../core/step/changes.js';
import { keepCommands } from './case-commands.js';
import { rulesFolders } from './kept-histories.js';
import { replayFromBase } from './base.js';
import { MIXED_LEAST, prove } from './prove.js';
import { record } from './record.js';
import { slowdown, SLOWER_MOST } from './speed.js';
import { newSeed, wholeNumber } from '../exploration/options.js';

const say = (line: string): void => console.log(line);

interface RecordOptions {
  readonly rules: number;
  readonly random: number;
  readonly seed?: number;
  readonly from?: string;
  readonly every?: boolean;
  readonly goals?: boolean;
}

interface ProveOptions {
  readonly changes?: number;
  readonly seed?: number;
}

async function proveAll({ seed = newSeed(), changes }: ProveOptions): Promise<void> {
  if (changes !== undefined) say(`seed ${seed}`);
  const { broken, mixed, caughtBy } = await prove(say, {
    seed,
    ...(changes !== undefined && { changes }),
  });
  const uncaught = [...caughtBy].flatMap(([name, file]) => (file === undefined ? [name] : []));
  for (const file of broken)
    say(`${file} no longer replays: what it decides has changed its meaning`);
  if (uncaught.length > 0) say(`no kept history catches ${uncaught.join(', ')}`);
  say(
    `${mixed} histories have a signal and another fact in one activation (at least ${MIXED_LEAST})`,
  );
  if (broken.length > 0 || uncaught.length > 0 || mixed < MIXED_LEAST) process.exitCode = 1;
}

const program = new Command('seal').description('Histories that are kept for every rules number.');
program
  .command('record')
  .description('Plays cases on a server and keeps the runs that cover something new.')
  .option('--rules <n>', 'the number that runs are opened with', wholeNumber, RULES_VERSION)
  .option('--random <n>', 'how many random cases', wholeNumber, 200)
  .option('--seed <n>', 'of the random cases', wholeNumber)
  .option('--from <folder>', 'bundles to choose from, instead of playing cases')
  .option('--every', 'keep every bundle of --from')
  .option('--goals', 'cases of goals alone')
  .action(async ({ seed = newSeed(), ...options }: RecordOptions) => {
    say(`seed ${seed}`);
    await record({ ...options, seed, say });
    say(`${await keepCommands(options.rules)} cases have their commands kept`);
  });
program
  .command('commands')
  .description('Keeps what cases command under each sealed number, where that is not kept yet.')
  .option(
    '--anew',
    'all of it: after a change outside of the core that moves payloads, and `prove`',
  )
  .action(async (options: { readonly anew?: boolean }) => {
    for (const rules of rulesFolders()) {
      say(`rules ${rules}: ${await keepCommands(rules, options)} cases written`);
    }
  });
program
  .command('prove')
  .description('Replays all of them, and shows that each named change, turned round, breaks one.')
  .option('--changes <n>', 'so many of the changes alone, as the seed draws', wholeNumber)
  .option('--seed <n>', 'of the drawn changes', wholeNumber)
  .action(proveAll);
program
  .command('base')
  .description('Records fresh histories with the package of histories/BASE, and replays them.')
  .option('--random <n>', 'how many random cases', wholeNumber, 40)
  .option('--seed <n>', 'of the random cases', wholeNumber)
  .action(async ({ seed = newSeed(), random }: Pick<RecordOptions, 'random' | 'seed'>) => {
    say(`seed ${seed}`);
    const { replayed, different } = await replayFromBase({ random, seed, say });
    for (const line of different) say(line);
    say(`${replayed} histories of BASE replayed, ${different.length} differ`);
    if (different.length > 0 || replayed === 0) process.exitCode = 1;
  });
program
  .command('speed')
  .description('A turn of this commit beside a turn of histories/BASE.')
  .action(async () => {
    const slower = await slowdown(say);
    say(`a turn takes ${slower.toFixed(3)} of what it takes in BASE (at most ${SLOWER_MOST})`);
    if (slower > SLOWER_MOST) process.exitCode = 1;
  });
program.parseAsync().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
