/** What the calls of a run's handle take. */
import {
  AMOUNT,
  ANYTHING,
  CALLBACK,
  each,
  FIELDS,
  FLAG,
  isRecord,
  needed,
  TEXT,
  type OptionRule,
  type OptionRules,
} from '../../pure/options.js';
import { ID } from '../checked-calls.js';
import type { Allowance } from '../decide/decide.js';
import type { EventsOptions } from '../read/event-stream.js';
import type { StreamOptions } from '../read/token-stream.js';
import type { FollowOptions } from './follow-run.js';
import type { WaitOptions } from './outcome.js';

const SIGNAL: OptionRule = {
  is: 'the signal of an AbortController',
  fits: (value) => isRecord(value) && typeof value['aborted'] === 'boolean',
};
const SEQ: OptionRule = { is: 'the number of an event', fits: Number.isSafeInteger };

const WAIT: OptionRules<WaitOptions> = { timeoutMs: AMOUNT, signal: SIGNAL };
const EVENTS: OptionRules<EventsOptions> = {
  since: SEQ,
  signal: SIGNAL,
  ...each(FLAG, 'untilNow awaited'),
  onQuiet: CALLBACK,
};
const STREAM: OptionRules<StreamOptions> = { after: TEXT, signal: SIGNAL, untilNow: FLAG };
export const FOLLOW: OptionRules<FollowOptions> = {
  ...each(SEQ, 'since tokensSince'),
  after: TEXT,
  signal: SIGNAL,
};
const ALLOWANCE: OptionRules<Allowance> = { amount: AMOUNT, grant: FIELDS };

const DECIDER = needed({ ...FIELDS, is: '{ by, roles, reason }' });
const ASKED = { askId: ID };

const MESSAGE: OptionRule = {
  is: 'an id, or { id, attachments }',
  fits: (value) =>
    typeof value === 'string' ||
    (isRecord(value) && Object.keys(value).every((name) => ['id', 'attachments'].includes(name))),
};

/** Those that a goal's handle has as well. */
export const WAITING_CALLS = {
  result: { options: WAIT },
  outcome: { options: WAIT },
  state: { limitMs: AMOUNT },
};
export const WATCH = { options: EVENTS };

export const RUN_CALLS = {
  ...WAITING_CALLS,
  events: WATCH,
  stream: { options: STREAM },
  decideOn: { wanted: needed(FIELDS) },
  approve: { ...ASKED, decider: DECIDER, allowing: ALLOWANCE },
  modify: { ...ASKED, args: ANYTHING, decider: DECIDER },
  replace: { ...ASKED, action: needed({ ...FIELDS, is: '{ tool, args }' }), decider: DECIDER },
  reject: { ...ASKED, decider: DECIDER },
  answer: { ...ASKED, answer: needed({ ...FIELDS, is: '{ kind, value }' }), decider: DECIDER },
  sendMessage: { text: ANYTHING, message: MESSAGE },
};
