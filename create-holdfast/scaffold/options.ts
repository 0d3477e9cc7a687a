/** What is asked of whoever begins a project, and what the flags may say. */
import { HoldfastError } from '../../core/state/errors.js';
import { MODELS, MODULES, TEMPLATES, type Model, type Module, type Template } from './project.js';

export interface Wanted {
  readonly template: Template;
  readonly module: Module;
  readonly model: Model;
}

export const DEFAULTS: Wanted = { template: 'minimal', module: 'esm', model: 'anthropic' };

const CHOICES = { template: TEMPLATES, module: MODULES, model: MODELS } as const;
const SHOWN_CHARS_MAX = 40;

/** The choice that a flag names. Errors: Usage. */
export function choiceOf<Name extends keyof Wanted>(name: Name, said: string): Wanted[Name] {
  const choices: readonly string[] = CHOICES[name];
  if (choices.includes(said)) return said as Wanted[Name];
  throw new HoldfastError(
    'Usage',
    `--${name} is one of ${choices.join(', ')}, not ${JSON.stringify(said.slice(0, SHOWN_CHARS_MAX))}.`,
    { hint: 'See --help.' },
  );
}

/** A version, a range, a tag, or the place of a package; nothing that npm would take for another option. */
const SPEC = /^(?:file:[^\p{Cc}]{1,1000}|[\^~]?\d[0-9A-Za-z.+-]{0,60}|[a-z][a-z0-9-]{0,40})$/u;

/** Errors: Usage. */
export function holdfastSpec(said: string): string {
  if (SPEC.test(said)) return said;
  throw new HoldfastError(
    'Usage',
    `--holdfast is a version or file:PLACE, not ${JSON.stringify(said.slice(0, SHOWN_CHARS_MAX))}.`,
    { hint: 'Leave it out to get the version that this command belongs to.' },
  );
}
