/**
 * The example: `npm run example:collections` plays 90 days under virtual time; `-- --day [--yes]` works one morning on a
 * real server, where you are the lead.
 */
import { parseArgs } from 'node:util';
import { HoldfastError } from '../../index.js';
import { exitWith, runDemo, textOf } from '../demo/program.js';
import { workOneDay } from './one-day.js';
import { playQuarter } from './quarter.js';

const USAGE = 'Use: npm run example:collections -- [--day [--yes]]';

interface Options {
  readonly day: boolean;
  readonly yes: boolean;
}

function parseOptions(argv: readonly string[]): Options {
  try {
    const flag = { type: 'boolean' } as const;
    const { values } = parseArgs({ args: [...argv], options: { day: flag, yes: flag } });
    return { day: values.day ?? false, yes: values.yes ?? false };
  } catch (cause) {
    throw new HoldfastError('Usage', textOf(cause), { hint: USAGE, cause });
  }
}

async function main(argv: readonly string[]): Promise<number> {
  const options = parseOptions(argv);
  return runDemo(options, options.day ? workOneDay : playQuarter);
}

exitWith(main(process.argv.slice(2)));
