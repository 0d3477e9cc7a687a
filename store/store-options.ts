/** Options of `openStore`: a closed list for each kind of store, since a typing error would open another one without a word. */
import { HoldfastError } from '../core/state/errors.js';
import {
  AMOUNT,
  checkOptions,
  COUNT,
  isRecord,
  kindOf,
  TEXT,
  type OptionRule,
  type OptionRules,
} from '../pure/option-rules.js';
import { isStoreUrl } from './place.js';
import type { PostgresOptions } from './postgres/postgres-database.js';
import type { SqliteOptions } from './sqlite/sqlite-database.js';

/** Its values are checked by whoever reads it. */
const SYNC: OptionRule = { is: "'each' or 'shared'", fits: () => true };

const FILE_RULES: OptionRules<SqliteOptions> = {
  file: {
    is: 'the path of a file; an address postgres://… is given as url',
    fits: (value) => TEXT.fits(value) && !isStoreUrl(String(value)),
  },
  busyWaitMs: AMOUNT,
  sync: SYNC,
};

const URL_RULES: OptionRules<PostgresOptions> & { readonly sync: OptionRule } = {
  url: TEXT,
  connectionsMax: COUNT,
  sync: SYNC,
};

const EITHER = "Give { file: '.holdfast/store.db' }, or { url: 'postgres://…' }.";

/** Errors: InvalidConfig, which names the option. */
export function checkStore(options: unknown): void {
  if (!isRecord(options)) {
    throw wrong(`openStore takes an object of options, and got ${kindOf(options)}.`);
  }
  const { file, url } = options;
  if (file !== undefined && url !== undefined) {
    throw wrong('openStore got both a file and a url: a store is one of them.');
  }
  checkOptions('openStore', options, rulesFor(options));
  if (file === undefined && url === undefined) throw wrong('openStore got neither file nor url.');
}

/** Those of both while nothing says which store it is. */
function rulesFor({ file, url }: { readonly [name: string]: unknown }) {
  if (file !== undefined) return FILE_RULES;
  return url === undefined ? { ...FILE_RULES, ...URL_RULES } : URL_RULES;
}

function wrong(what: string): HoldfastError {
  return new HoldfastError('InvalidConfig', what, { hint: EITHER });
}
