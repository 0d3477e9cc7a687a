/** `npm run mutate [-- --named N | --sample N] [--seed S …]`: breaks rules one at a time and says which case or test notices. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import fc from 'fast-check';
import { FLIPS } from './flips.js';
import {
  copySources,
  createJudges,
  type Copy,
  type Judge,
  type Judgement,
  type Mutation,
} from './judge.js';
import { judgeSample } from './judge-sample.js';
import { newSeed, wholeNumber } from '../exploration/options.js';

const ROOT = join(__dirname, '..', '..');
/** Each holds a copy of the sources and plays all cases at once. */
const JUDGES_MAX = 4;

const say = (line: string): void => console.log(line);

/** How many survived, or could not be made. Each judge has a copy of its own. */
async function judgeAll(judges: readonly Judge[], mutations: readonly Mutation[]): Promise<number> {
  const left = [...mutations];
  const alive = await Promise.all(
    judges.map(async (judge) => {
      let count = 0;
      for (let next = left.shift(); next !== undefined; next = left.shift())
        if (!told(next, await judge.judge(next))) count += 1;
      return count;
    }),
  );
  return alive.reduce((sum, count) => sum + count, 0);
}

/** True: a case noticed. */
function told({ name, file }: Mutation, judgement: Judgement): boolean {
  if (judgement.kind === 'killed') say(`killed    ${name}: ${judgement.by}`);
  else if (judgement.kind === 'survived') say(`SURVIVED  ${name}`);
  else say(`UNMATCHED ${name}: its place occurs ${judgement.times} times in ${file}`);
  return judgement.kind === 'killed';
}

function copyOf(root: string): Copy {
  const copy = copySources(root);
  process.once('exit', () => copy.remove());
  return copy;
}

interface Options {
  readonly named?: number;
  readonly sample?: number;
  readonly seed?: readonly number[];
}

/** So many of the named flips as the seed draws; by default all. */
function flipsOf({ named = FLIPS.length, seed: [seed = newSeed()] = [] }: Options) {
  if (named >= FLIPS.length) return FLIPS;
  say(`seed ${seed}`);
  return fc.sample(fc.shuffledSubarray([...FLIPS], { minLength: named, maxLength: named }), {
    seed,
    numRuns: 1,
  })[0]!;
}

async function main(options: Options): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(130));
  if (options.sample !== undefined) {
    const { sample: count, seed: seeds = [newSeed()] } = options;
    const { folder } = copyOf(ROOT);
    const passes = await judgeSample({ root: ROOT, folder, count, seeds }, say);
    process.exitCode = passes ? 0 : 1;
    return;
  }
  const beside = Math.min(availableParallelism(), JUDGES_MAX) - 1;
  const flips = flipsOf(options);
  const judges = createJudges(
    Array.from({ length: Math.min(beside + 1, flips.length) }, () => copyOf(ROOT)),
  );
  const alive = await judgeAll(judges, flips);
  say(`${flips.length - alive} of ${flips.length} named flips killed`);
  process.exitCode = alive === 0 ? 0 : 1;
}

const program = new Command('mutate')
  .description('Break the core one place at a time; every break must be noticed.')
  .option('--named <n>', 'so many of the named flips, drawn; default all', wholeNumber)
  .option('--sample <n>', 'random changes instead of the named flips', wholeNumber)
  .option('--seed <n...>', 'one sample of each seed, pooled', (text: string, all?: number[]) => [
    ...(all ?? []),
    wholeNumber(text),
  ])
  .action(main);
program.parseAsync().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
