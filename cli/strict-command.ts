/** A command that refuses options which cannot be meant: without a value, with an empty one, or with their opposites. */
import { Command, type Option, type ParseOptionsResult } from 'commander';
import { usage } from './usage.js';

/** A text of several words, a number and `-`, which is standard input, are values. */
const OPTION = /^--?[a-z][\w-]*(?:=|$)/i;

export class StrictCommand extends Command {
  override createCommand(name?: string): Command {
    return new StrictCommand(name);
  }

  override parseOptions(argv: string[]): ParseOptionsResult {
    const end = argv.indexOf('--');
    const words = end === -1 ? argv : argv.slice(0, end);
    for (let at = 0; at < words.length; at += 1) {
      const [name = '', ...rest] = words[at]!.split('=');
      const option = this.options.find(({ long, short }) => long === name || short === name);
      if (!option?.required) continue;
      if (rest.length > 0) refuseEmpty(name, rest.join('='));
      else refuseValue(option, name, words[(at += 1)]);
    }
    this.refuseBoth(words);
    return super.parseOptions(argv);
  }

  /** Of `--wait` and `--no-wait` the last one would count. */
  private refuseBoth(words: readonly string[]): void {
    const both = this.options.find(
      ({ long, negate }) => negate && words.includes(long!) && words.includes(plain(long!)),
    )?.long;
    if (both) throw usage(`${plain(both)} and ${both} exclude each other.`, 'Use one of them.');
  }
}

function plain(negated: string): string {
  return negated.replace(/^--no-/, '--');
}

/** `value` is undefined where nothing follows, which the parser tells. */
function refuseValue({ long }: Option, name: string, value: string | undefined): void {
  if (value === undefined) return;
  refuseEmpty(name, value);
  if (!OPTION.test(value)) return;
  const shown = value.slice(0, 40);
  throw usage(
    `The value of ${name} is missing: ${shown} looks like an option.`,
    `Name a value behind ${name}. One that looks like an option is written ${long ?? name}=${shown}.`,
  );
}

/** Such as an unset variable of a shell. */
function refuseEmpty(name: string, value: string): void {
  if (value.trim() === '') throw usage(`${name} is empty.`, 'Name a value, or leave it out.');
}
