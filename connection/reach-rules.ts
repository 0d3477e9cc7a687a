/** What options must be that say how the server is reached. */
import {
  AMOUNT,
  CALLBACK,
  FLAG,
  isRecord,
  TEXT,
  type OptionRule,
  type OptionRules,
} from '../pure/option-rules.js';
import type { Reach, TlsMaterial } from './access.js';

/** A name that is misspelt here would be a connection without the authority that was meant. */
const TLS: { readonly [name in keyof Required<TlsMaterial>]: true } = {
  ca: true,
  cert: true,
  key: true,
  serverName: true,
};

/** As Temporal's SDK takes it: gRPC has no scheme. */
const ADDRESS = /^(\[[0-9A-Fa-f.:]+\]|[^\s:/]+)(:\d{1,5})?$/;

export const ADDRESS_RULE: OptionRule = {
  is: 'host:port, without http://',
  fits: (value) => typeof value === 'string' && ADDRESS.test(value),
};

export const REACH_RULES: OptionRules<Reach> = {
  tls: {
    is: `true, false or { ${Object.keys(TLS).join(', ')} }`,
    fits: (value) =>
      typeof value === 'boolean' ||
      (isRecord(value) && Object.keys(value).every((name) => Object.hasOwn(TLS, name))),
  },
  apiKey: TEXT,
  metadata: {
    is: 'an object of texts',
    fits: (value) =>
      isRecord(value) && Object.values(value).every((one) => typeof one === 'string'),
  },
  renew: CALLBACK,
  renewEveryMs: AMOUNT,
};

/** What `readEnvironment().reach()` says beside them. */
export const REACHED_RULES: { readonly isNamed: OptionRule } = {
  isNamed: { ...FLAG, isUnlisted: true },
};

/** `PayloadCodec` of Temporal's SDK. */
export const CODECS_RULE: OptionRule = {
  is: 'a list of objects with encode and decode',
  fits: (value) =>
    Array.isArray(value) &&
    value.every(
      (one: { encode?: unknown; decode?: unknown } | null) =>
        typeof one?.encode === 'function' && typeof one.decode === 'function',
    ),
};
