/** Fields of a tool whose values a wrong type would take away without a word: `isolated: 'yes'` isolates nothing. */

import { shown } from './known-fields.js';

const SANDBOXES: readonly unknown[] = ['none', 'optional', 'required'];

const FLAG = {
  fits: (value: unknown) => typeof value === 'boolean',
  hint: 'Use true or false.',
} as const;
const CODE = {
  fits: (value: unknown) => typeof value === 'function',
  hint: 'Give a function: (input, ctx) => ….',
} as const;

const VALUES = {
  concurrencySafe: FLAG,
  isolated: FLAG,
  quick: FLAG,
  required: FLAG,
  sandboxRun: CODE,
  probe: CODE,
  sandbox: {
    fits: (value: unknown) => SANDBOXES.includes(value),
    hint: "Use 'none', 'optional' or 'required'.",
  },
} as const;

/** The first field of another type than its own; undefined: there is none. */
export function valueDefect(
  definition: object,
): { readonly what: string; readonly hint: string } | undefined {
  for (const [name, { fits, hint }] of Object.entries(VALUES)) {
    const value = (definition as { readonly [name: string]: unknown })[name];
    if (value === undefined || fits(value)) continue;
    return { what: `its ${name} is ${shown(value)}`, hint };
  }
  return undefined;
}
