/** The options that say how the server is reached. */
import { isIP } from 'node:net';
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

/** Where a process listens. The SDK's metrics take no names of hosts. */
export const LISTEN_RULE: OptionRule = {
  is: 'IP:port, such as 127.0.0.1:9464',
  fits: (value) => typeof value === 'string' && listenPlace(value) !== undefined,
};

export function listenPlace(
  text: string,
): { readonly host: string; readonly port: number } | undefined {
  const [, v6, v4, digits] = /^(?:\[([\dA-Fa-f.:]+)\]|([\d.]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? v4 ?? '';
  const port = Number(digits);
  const isPlace = isIP(host) === (v6 === undefined ? 4 : 6) && port >= 1 && port <= 65_535;
  return isPlace ? { host, port } : undefined;
}

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
