/** Options of `openStore`: a closed list for each kind of store, since a typing error would open another one without a word. */
import { HoldfastError } from '../core/state/errors.js';
import {
  AMOUNT,
  checkOptions,
  COUNT,
  TEXT,
  type OptionRule,
  type OptionRules,
} from '../pure/options.js';
import { isStoreUrl } from './place.js';
import type { PostgresOptions } from './postgres/postgres-database.js';
import type { SqliteOptions } from './sqlite/sqlite-database.js';

/** `checkSync` looks at the values. */
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

/** Errors: InvalidConfig, which names the option. */
export function checkStore(options: unknown): void {
  const { file, url } = Object(options) as { readonly file?: unknown; readonly url?: unknown };
  if ((file === undefined) === (url === undefined)) {
    throw new HoldfastError('InvalidConfig', 'openStore takes either a file or a url.', {
      hint: "Give { file: '.holdfast/store.db' }, or { url: 'postgres://…' }.",
    });
  }
  checkOptions('openStore', options, file === undefined ? URL_RULES : FILE_RULES);
}
