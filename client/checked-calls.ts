/**
 * Calls of the client are as closed as its starts: a filter under a misspelt name would filter nothing, without a word.
 * Invariant: what cannot be used is refused before anything is asked of a server or a store.
 */
import { HoldfastError } from '../core/state/errors.js';
import {
  isText,
  needed,
  optionDefect,
  words,
  type OptionDefect,
  type OptionRule,
  type Rules,
} from '../pure/options.js';

/** What a call takes, in order and by name: a value, or an object of options. */
export type Taken = { readonly [argument: string]: OptionRule | Rules };

export type CallRules<Calls> = { readonly [call in keyof Calls]?: Taken };

export const ID: OptionRule = needed({ is: 'an id, which is not blank', fits: isText });

/** These give something at once; a refusal of any other call is how its promise ends. */
const AT_ONCE: readonly string[] = words(
  'handle goal schedule forTenant follow followTree events stream watch',
);

type CallsByName = { readonly [call: string]: (...given: readonly unknown[]) => unknown };

/** The same calls, which look at what they are given. Errors: InvalidTask, with the name in `details.path`. */
export function checkedCalls<Calls extends object>(calls: Calls, rules: CallRules<Calls>): Calls {
  const entries = Object.entries(rules as { readonly [call: string]: Taken | undefined });
  const checked = entries.map(([name, taken = {}]) => {
    const call = (calls as unknown as CallsByName)[name]!;
    const now = (...given: readonly unknown[]): unknown => {
      checkArguments(name, given, taken);
      return call(...given);
    };
    const later = async (...given: readonly unknown[]): Promise<unknown> => now(...given);
    return [name, AT_ONCE.includes(name) ? now : later];
  });
  return { ...calls, ...(Object.fromEntries(checked) as Partial<Calls>) };
}

function checkArguments(call: string, given: readonly unknown[], taken: Taken): void {
  for (const [index, [name, rule]] of Object.entries(taken).entries()) {
    const defect = argumentDefect(call, name, { value: given[index], rule });
    if (defect === undefined) continue;
    const { message, hint, path } = defect;
    throw new HoldfastError('InvalidTask', message, { hint, details: { path: path || name } });
  }
}

function argumentDefect(
  call: string,
  name: string,
  { value, rule }: { readonly value: unknown; readonly rule: OptionRule | Rules },
): OptionDefect | undefined {
  if (isRule(rule)) {
    const defect = optionDefect(call, { [name]: value }, { [name]: rule });
    return defect && { ...defect, message: defect.message.replace('option', 'argument') };
  }
  const isLeftOut = value === undefined && Object.values(rule).every(({ isNeeded }) => !isNeeded);
  return isLeftOut ? undefined : optionDefect(call, value, rule);
}

function isRule(rule: OptionRule | Rules): rule is OptionRule {
  return typeof rule['fits'] === 'function';
}
