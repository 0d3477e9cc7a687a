/** Options of `connect`: a list that is closed, since a typing error would reach for another server without a word. */
import type { PayloadCodec } from '@temporalio/common';
import type { Reach } from '../connection/index.js';
import { ADDRESS_RULE, REACH_RULES } from '../connection/reach-rules.js';
import {
  AMOUNT,
  CALLBACK,
  checkOptions,
  each,
  FIELDS,
  isRecord,
  LIST,
  TEXT,
  type OptionRules,
} from '../pure/options.js';
import type { DeskSigner } from './decide/desk-signer.js';
import type { ReadingStore } from './link.js';

/** Which server, namespace, queue and store a client works with. */
export interface ConnectOptions extends Reach {
  /** `host:port` of the Temporal server; default `localhost:7233`. */
  readonly address?: string;
  readonly namespace?: string;
  readonly taskQueue?: string;
  /** Tenant of runs that name none; default `default`. */
  readonly tenant?: string;
  /**
   * The store that the workers write, opened with `openStore`. Without it events are only what a run still
   * holds, and lists are what Temporal still keeps.
   */
  readonly store?: ReadingStore;
  /** Signs the decisions that are made over this client. Only a desk that authenticates people has one. */
  readonly signer?: DeskSigner;
  /** Those of the workers: what payloads pass on their way to and from the server; default: nothing. */
  readonly payloadCodecs?: readonly PayloadCodec[];
  /** Longest wait for the connection, in ms; default 5,000. */
  readonly connectLimitMs?: number;
  /**
   * Longest wait for an answer that a worker must give, in ms; default 5,000. Where it is more than half a minute, a run
   * that is started is given as long to open.
   */
  readonly workerLimitMs?: number;
  /** Told when the credentials have changed, or cannot be renewed; default: nobody. */
  readonly say?: (line: string) => void;
}

const RULES: OptionRules<ConnectOptions> = {
  address: ADDRESS_RULE,
  ...each(TEXT, 'namespace taskQueue tenant'),
  store: {
    is: 'what openStore gives',
    fits: (value) => isRecord(value) && typeof value['readEvents'] === 'function',
  },
  ...REACH_RULES,
  signer: FIELDS,
  payloadCodecs: LIST,
  ...each(AMOUNT, 'connectLimitMs workerLimitMs'),
  say: CALLBACK,
};

/** Errors: InvalidConfig, which names the option. */
export function checkConnect(options: unknown): asserts options is ConnectOptions {
  checkOptions('connect', options, RULES);
}
