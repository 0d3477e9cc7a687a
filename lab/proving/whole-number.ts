/** Whole numbers on a command line of commander's. */
import { InvalidArgumentError } from 'commander';

/** Reads one within bounds; anything else is wrong usage. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max && text.trim() !== '') return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}
