/** The options of `connect`: a closed list, since a typing error would reach for another server without a word. */
import { ADDRESS_RULE, REACH_RULES } from '../connection/reach-rules.js';
import { AMOUNT, CALLBACK, each, FIELDS, isRecord, LIST, TEXT } from '../pure/options.js';

export const CONNECT_RULES = {
  address: ADDRESS_RULE,
  ...each(TEXT, 'namespace taskQueue tenant'),
  store: {
    is: 'what openStore gives',
    fits: (value: unknown) => isRecord(value) && typeof value['readEvents'] === 'function',
  },
  ...REACH_RULES,
  signer: FIELDS,
  payloadCodecs: LIST,
  ...each(AMOUNT, 'connectLimitMs workerLimitMs'),
  say: CALLBACK,
};
