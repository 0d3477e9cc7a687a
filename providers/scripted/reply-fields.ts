/** What scripts of models say, looked at before it is played: a word that is mistyped would be a reply without it. */
import type { Usage } from '../../core/state/model.js';
import {
  isRecord,
  needed,
  oneOf,
  optionDefect,
  rules,
  writtenDefect,
  type OptionRule,
  type OptionRules,
  type Rules,
} from '../../pure/options.js';
import type {
  ScriptedCall,
  ScriptedFailure,
  ScriptedGarbage,
  ScriptedMessage,
  ScriptedReply,
} from './script.js';

const USAGE: OptionRules<Usage> = rules('amount input output cacheRead cacheWrite');
export const TOKENS: OptionRule = {
  is: 'numbers of tokens: { input, output, cacheRead, cacheWrite }',
  fits: (value) => optionDefect('', value, USAGE) === undefined,
};
// A model may name a tool that is none, also by a blank.
export const CALL: OptionRules<Omit<ScriptedCall, 'rawInput'>> = {
  ...rules('words! tool, words id'),
  input: { is: 'JSON', fits: (value) => value === undefined || isWritten(value) },
};

const MESSAGE: OptionRules<ScriptedMessage> = {
  ...rules(
    'words text, list calls, wait delayMs, amount chunks, wait chunkDelayMs, words thinking',
  ),
  usage: TOKENS,
  ...rules('words stopReason stopSequence, any stopDetails contextManagement, words errorType'),
  ...rules('whole cutAfterChunks cutAfterBytes endAfterChunks stallAfterChunks'),
  ...rules('whole errorEventAfterChunks'),
  stallWith: oneOf('silence', 'pings'),
};
const FAILURE: OptionRules<ScriptedFailure> = {
  status: needed({
    is: 'a status, 200 to 599',
    fits: (value) => Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599,
  }),
  ...rules('words errorType errorCode message, amount retryAfterSeconds, object headers'),
  ...rules('flag shouldRetry exhausted, wait delayMs'),
};
const GARBAGE: OptionRules<ScriptedGarbage> = rules('words! garbage, words contentType');
const WIRE_CALL: OptionRules<ScriptedCall> = { ...CALL, ...rules('words rawInput') };

/** Why a reply cannot be sent, in words; undefined: it can. */
export function replyDefect(reply: ScriptedReply): string | undefined {
  const defect =
    writtenDefect('its reply', reply, fieldsOf(reply)) ?? callDefect('its reply', reply, WIRE_CALL);
  return defect && `${defect.message} ${defect.hint}`;
}

function isWritten(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

function fieldsOf(reply: unknown): Rules {
  if (!isRecord(reply)) return MESSAGE;
  return 'garbage' in reply ? GARBAGE : 'status' in reply ? FAILURE : MESSAGE;
}

/** Of a reply whose own fields are as they must be: the first call that is not. */
export function callDefect(what: string, reply: object, fields: Rules) {
  const { calls = [] } = reply as { readonly calls?: readonly unknown[] };
  return calls
    .map((call, index) => writtenDefect(`${what}, call ${index + 1},`, call, fields))
    .find((defect) => defect !== undefined);
}
