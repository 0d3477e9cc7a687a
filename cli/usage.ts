/** A command line that cannot be meant. */
import { HoldfastError } from '../core/state/errors.js';
import { didYouMean } from '../pure/nearest-names.js';

export function usage(message: string, hint = 'See --help.'): HoldfastError {
  return new HoldfastError('Usage', message, { hint });
}

/** A file that a command was to read. A wrong name is a wrong command line; what the system refuses stays its error. */
export function notRead(what: string, cause: unknown): unknown {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  if (!/^(?:ENOENT|ENOTDIR|EISDIR)$/.test(code)) return cause;
  return usage(`The ${what} cannot be read.`, `Name another file: ${message}`);
}

/** A whole number within bounds. */
export function wholeNumber(name: string, bounds: readonly [min: number, max: number]) {
  return (text: string): number => {
    const value = Number(text);
    const [min, max] = bounds;
    if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
    throw usage(
      `${name} must be a whole number from ${min} to ${max}, not "${text.slice(0, 40)}".`,
    );
  };
}

/** One of a few words. */
export function oneOf<Word extends string>(what: string, known: readonly Word[]) {
  return (text: string): Word => {
    const word = known.find((one) => one === text);
    if (word !== undefined) return word;
    throw usage(
      `There is no ${what} "${text.slice(0, 40)}".`,
      `${didYouMean(text, known)}Known: ${known.join(', ')}.`,
    );
  };
}

/** For options that may be given again. */
export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
