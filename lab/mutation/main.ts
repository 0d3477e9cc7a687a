/** `npm run mutate [-- --sample N --seed S …]`: breaks rules one at a time and says which case or test notices. */
import { join } from 'node:path';
import { Command } from 'commander';
import { FLIPS } from './flips.js';
import { copySources, createJudge, type Judge, type Mutation } from './judge.js';
import { judgeSample } from './judge-sample.js';
import { newSeed, wholeNumber } from '../exploration/options.js';

const ROOT = join(__dirname, '..', '..');
const say = (line: string): void => console.log(line);

/** How many survived, or could not be made. */
async function judgeAll(judge: Judge, mutations: readonly Mutation[]): Promise<number> {
  let alive = 0;
  for (const mutation of mutations) {
    const judgement = await judge.judge(mutation);
    if (judgement.kind === 'killed') {
      say(`killed    ${mutation.name}: ${judgement.by}`);
      continue;
    }
    alive += 1;
    say(
      judgement.kind === 'survived'
        ? `SURVIVED  ${mutation.name}`
        : `UNMATCHED ${mutation.name}: its place occurs ${judgement.times} times in ${mutation.file}`,
    );
  }
  return alive;
}

async function main(options: { sample?: number; seed?: readonly number[] }): Promise<void> {
  const copy = copySources(ROOT);
  process.once('exit', () => copy.remove());
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(130));
  if (options.sample !== undefined) {
    const { sample: count, seed: seeds = [newSeed()] } = options;
    const passes = await judgeSample({ root: ROOT, folder: copy.folder, count, seeds }, say);
    process.exitCode = passes ? 0 : 1;
    return;
  }
  const judge = await createJudge(copy);
  const { size } = judge.failingAnyway;
  if (size > 0) say(`${size} cases fail without any change and are not looked at`);
  const alive = await judgeAll(judge, FLIPS);
  say(`${FLIPS.length - alive} of ${FLIPS.length} named flips killed`);
  process.exitCode = alive === 0 ? 0 : 1;
}

const program = new Command('mutate')
  .description('Break the core one place at a time; every break must be noticed.')
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
