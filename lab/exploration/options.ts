/** Options that all commands with random cases have. */
import { InvalidArgumentError } from 'commander';

const SEED_MAX = 1_000_000_000;

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError('a whole number');
  return value;
}

export function newSeed(): number {
  return Math.floor(Math.random() * SEED_MAX);
}
