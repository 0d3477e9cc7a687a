/** Fields of a vendor's API that a configuration adds to every request, checked. They stay in the worker: no run freezes them. */
import { HoldfastError } from '../core/state/errors.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../core/json/json-depth.js';
import type { Json } from '../core/json/json.js';

/** By provider: `{ anthropic: { context_management: { edits: [ … ] } } }`. */
export type RequestOptions = {
  readonly [provider: string]: { readonly [field: string]: Json };
};

const OPTIONS_CHARS_MAX = 20_000;
/** The runtime says these: budgets, policies and the conversation hang on them. */
const RESERVED: readonly string[] = [
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'max_tokens',
  'stream',
  'temperature',
  'thinking',
  'metadata',
];

/** `takers`: providers that speak a protocol whose requests take such fields. Errors: InvalidConfig. */
export function checkedRequestOptions(
  options: RequestOptions,
  takers: readonly string[],
): RequestOptions {
  for (const [provider, fields] of Object.entries(options)) {
    if (!takers.includes(provider)) {
      throw wrong(
        `No provider ${JSON.stringify(provider.slice(0, 60))} takes requestOptions.`,
        takers,
      );
    }
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
      throw wrong(`requestOptions.${provider} is no object of fields.`, takers);
    }
    const reserved = Object.keys(fields).find((field) => RESERVED.includes(field));
    if (reserved !== undefined) {
      throw wrong(`requestOptions.${provider}.${reserved} is what the runtime says.`, takers);
    }
    const isSmall =
      depthOf(fields) <= SHAPE_DEPTH_MAX && JSON.stringify(fields).length <= OPTIONS_CHARS_MAX;
    if (!isSmall) throw wrong(`requestOptions.${provider} is too large or too deep.`, takers);
  }
  return Object.freeze({ ...options });
}

function wrong(what: string, takers: readonly string[]): HoldfastError {
  return new HoldfastError('InvalidConfig', `The configuration cannot be used. ${what}`, {
    hint: `Give plain fields of the vendor's API, such as context_management, by the name of one of ${takers.join(', ')}.`,
  });
}
