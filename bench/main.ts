/** `npm run bench -- turn|history|core [--json FILE]` */
import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { Runtime, DefaultLogger } from '@temporalio/worker';
import { benchCore } from './core.js';
import { benchHistory } from './history.js';
import { benchTurn } from './turn.js';

const PAIRS_MIN = 7;
/** Long enough that the start and the end of a run weigh little in the time of a turn. */
const TURNS = 200;
const say = (line: string): void => console.log(line);

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('a whole number');
  return value;
}

function lengthsOf(text: string): readonly number[] {
  return text.split(',').map(wholeNumber);
}

function keep(file: string | undefined, report: unknown): void {
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}

async function turn(options: { pairs: number; turns: number; json?: string }): Promise<void> {
  const pairs = Math.max(PAIRS_MIN, options.pairs);
  const report = await benchTurn({ ...options, pairs, environment: process.env, say });
  keep(options.json, report);
  const [low, high] = report.ratioQuartiles;
  say(`bare ${report.bareMsPerTurn.toFixed(2)} ms per turn`);
  say(`held ${report.heldMsPerTurn.toFixed(2)} ms per turn`);
  say(`ratio ${report.ratio.toFixed(3)} (quartiles ${low.toFixed(3)} to ${high.toFixed(3)})`);
}

async function history(options: { lengths: readonly number[]; json?: string }): Promise<void> {
  const report = await benchHistory({ ...options, environment: process.env, say });
  keep(options.json, report);
  say(`events per turn ${report.eventsPerTurn.toFixed(2)}`);
  say(`bytes per turn ${report.bytesPerTurn.toFixed(0)}`);
  say(`exponent ${report.exponent.toFixed(3)}`);
}

async function core(options: { turns: number; json?: string }): Promise<void> {
  const report = await benchCore({ ...options, environment: process.env, say });
  keep(options.json, report);
  say(`bare ${report.bareMsPerTurn.toFixed(2)} ms per turn`);
  say(`share ${(100 * report.share).toFixed(2)} %`);
  say(`run after ${report.turns} turns: ${report.runBytes} bytes`);
}

const program = new Command('bench').description('Measurements against a bare Temporal loop.');
program
  .command('turn')
  .description('Overhead of one turn of one model call and one tool call.')
  .option('--pairs <n>', 'interleaved pairs, at least 7', wholeNumber, PAIRS_MIN)
  .option('--turns <n>', 'turns per run', wholeNumber, TURNS)
  .option('--json <file>', 'write the figures to a file')
  .action(turn);
program
  .command('history')
  .description('Events and bytes of histories at growing lengths.')
  .option('--lengths <n,n,…>', 'turns of the runs', lengthsOf, [10, 50, 200])
  .option('--json <file>', 'write the figures to a file')
  .action(history);
program
  .command('core')
  .description('The core by itself: time per turn beside the bare loop, size of a Run.')
  .option('--turns <n>', 'turns of the run', wholeNumber, 1_000)
  .option('--json <file>', 'write the figures to a file')
  .action(core);

Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
});
program.parseAsync().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
