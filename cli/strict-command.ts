/** A command that takes no option for the forgotten value of the option before it. */
import { Command, type ParseOptionsResult } from 'commander';
import { usage } from './usage.js';

/** A text of several words, a number and `-`, which is standard input, are values. */
const OPTION = /^--?[a-z][\w-]*(?:=|$)/i;

export class StrictCommand extends Command {
  override createCommand(name?: string): Command {
    return new StrictCommand(name);
  }

  override parseOptions(argv: string[]): ParseOptionsResult {
    for (let at = 0; at < argv.length && argv[at] !== '--'; at += 1) {
      const name = argv[at] ?? '';
      const option = this.options.find(({ long, short }) => long === name || short === name);
      if (!option?.required) continue;
      at += 1;
      const value = (argv[at] ?? '').slice(0, 40);
      if (OPTION.test(value)) {
        throw usage(
          `The value of ${name} is missing: ${value} looks like an option.`,
          `Name a value behind ${name}. One that looks like an option is written ${option.long ?? name}=${value}.`,
        );
      }
    }
    return super.parseOptions(argv);
  }
}
