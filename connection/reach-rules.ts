/** The options that say how the server is reached. */
import {
  AMOUNT,
  CALLBACK,
  FIELDS,
  FLAG,
  isRecord,
  TEXT,
  words,
  type OptionRule,
  type OptionRules,
} from '../pure/options.js';
import type { Reach, TlsMaterial } from './access.js';

const TLS: readonly (keyof TlsMaterial)[] = words('ca cert key serverName');

/** As Temporal's SDK takes it: gRPC has no scheme. */
const ADDRESS = /^(\[[0-9A-Fa-f.:]+\]|[^\s:/]+)(:\d{1,5})?$/;

export const ADDRESS_RULE: OptionRule = {
  is: 'host:port, without http://',
  fits: (value) => typeof value === 'string' && ADDRESS.test(value),
};

export const REACH_RULES: OptionRules<Reach & { readonly isNamed: boolean }> = {
  tls: {
    is: `true, false or { ${TLS.join(', ')} }`,
    // A name that is misspelt would be a connection without the authority that was meant.
    fits: (value) =>
      typeof value === 'boolean' ||
      (isRecord(value) && Object.keys(value).every((name) => TLS.some((known) => known === name))),
  },
  apiKey: TEXT,
  metadata: FIELDS,
  renew: CALLBACK,
  renewEveryMs: AMOUNT,
  // `readEnvironment().reach()` says this beside them.
  isNamed: FLAG,
};
