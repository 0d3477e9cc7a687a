/** Statements with `@names`, as the store writes them, in PostgreSQL's form: `$1`, `$2` … */
import { HoldfastError } from '../../core/state/errors.js';
import type { Values } from '../database.js';

interface Positional {
  readonly text: string;
  /** What `$1`, `$2` … stand for. */
  readonly names: readonly string[];
}

/** Texts that are kept; those of one batch of events differ by its size. */
const STATEMENTS_MAX = 200;

export interface NamedStatements {
  bind(
    statement: string,
    values: Values,
  ): { readonly text: string; readonly values: readonly Values[string][] };
}

export function namedStatements(): NamedStatements {
  const known = new Map<string, Positional>();
  return {
    bind(statement, values) {
      const positional = known.get(statement) ?? positionalForm(statement);
      known.delete(statement);
      known.set(statement, positional);
      const oldest = known.keys().next();
      if (known.size > STATEMENTS_MAX && !oldest.done) known.delete(oldest.value);
      const { text, names } = positional;
      return { text, values: names.map((name) => valueOf(values, name)) };
    },
  };
}

function positionalForm(statement: string): Positional {
  const places = new Map<string, number>();
  const text = statement.replace(/@([A-Za-z]\w*)/g, (_, name: string) => {
    const place = places.get(name) ?? places.size + 1;
    places.set(name, place);
    return `$${place}`;
  });
  return { text, names: [...places.keys()] };
}

function valueOf(values: Values, name: string): Values[string] {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined) throw new HoldfastError('Internal', `Nothing is given for @${name}.`);
  return value;
}
