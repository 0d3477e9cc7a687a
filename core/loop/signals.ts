/**
 * What a signal to a run becomes: an input, or `input_rejected` with the reason.
 * Invariants: total, because anybody may send anything; the workflow and whoever folds a recorded run read signals here,
 * so that both hear the same.
 */
import {
  parseDecision,
  parseModelName,
  parseMoneyAnswer,
  parseModesAbove,
  parsePermissionMode,
  parseProvidedInput,
  parseThinkingTokens,
  parseUserMessage,
  parseWantedMoney,
  type Parsed,
} from '../messages/parse-message.js';
import type { Decision } from '../state/ask.js';
import type { Input } from '../state/input.js';
import type { Run } from '../state/run.js';
import type { RejectedMessage } from '../state/warning.js';
import { knows } from '../step/changes.js';
import { wholeTexts } from './whole-texts.js';

/** In the order in which the workflow gets ready for them: what came before its first moment is heard in this order. */
export const RUN_SIGNALS = [
  'resolveApproval',
  'provideInput',
  'userMessage',
  'setModel',
  'setMaxThinkingTokens',
  'setPermissionMode',
  'interrupt',
  'close',
  'nextSegment',
  'mail',
  'childEnded',
  'modesAbove',
  'tellEnd',
  'wantsMoney',
  'moneyAnswer',
] as const;

const ID_CHARS_MAX = 200;

export interface Signal {
  readonly name: string;
  /** Its argument, as it came. */
  readonly raw: unknown;
  /** ms since epoch, workflow time. */
  readonly at: number;
}

export function heard(run: Run, { name, raw, at }: Signal): Input {
  const read: Read = (message, parse, make) => {
    const parsed = wholeTexts(run, raw, parse(raw));
    return parsed.ok
      ? make(parsed.value)
      : { type: 'input_rejected', message, reason: parsed.reason, at };
  };
  switch (name) {
    case 'resolveApproval':
      return read(name, parseDecision, (decision) => ({ type: 'decision', decision, at }));
    case 'provideInput':
      return read(name, parseProvidedInput, (input) => ({ type: 'input_provided', ...input, at }));
    case 'userMessage':
      return read(name, parseUserMessage, (message) => ({ type: 'user_message', ...message, at }));
    case 'setModel':
      return read(name, parseModelName, (model) => ({ type: 'set_model', model, at }));
    case 'setMaxThinkingTokens':
      return read(name, parseThinkingTokens, (tokens) => ({
        type: 'set_max_thinking_tokens',
        tokens,
        at,
      }));
    case 'setPermissionMode':
      return read(name, parsePermissionMode, (mode) => ({ type: 'set_permission_mode', mode, at }));
    case 'interrupt':
    case 'close':
      return { type: name, at };
    case 'mail':
      return knows(run, 'mailbox') ? { type: name, at } : unknown(name, at);
    case 'nextSegment':
      return { type: 'segment_full', at };
    case 'childEnded':
      if (!knows(run, 'subAgents')) return unknown(name, at);
      return typeof raw === 'string' && raw.length <= ID_CHARS_MAX
        ? { type: 'child_ended', child: raw, at }
        : { type: 'input_rejected', message: 'signal', reason: 'childEnded must name a run', at };
    case 'modesAbove':
      if (!knows(run, 'toldBelow')) return unknown(name, at);
      return read('signal', parseModesAbove, (modes) => ({ type: 'modes_above', modes, at }));
    case 'tellEnd':
      return knows(run, 'heardEnds') ? { type: 'tell_end', at } : unknown(name, at);
    case 'wantsMoney':
      if (!knows(run, 'moneyAbove')) return unknown(name, at);
      return read('signal', parseWantedMoney, (wanted) => ({
        type: 'money_wanted',
        ...wanted,
        at,
      }));
    case 'moneyAnswer':
      if (!knows(run, 'moneyAbove')) return unknown(name, at);
      return read('signal', parseMoneyAnswer, (given) => ({
        type: 'money_answered',
        child: run.runId,
        ...given,
        at,
      }));
    default:
      return unknown(name, at);
  }
}

function unknown(name: string, at: number): Input {
  const reason = `this workflow knows no signal '${name.slice(0, 100)}'`;
  return { type: 'input_rejected', message: 'signal', reason, at };
}

type Read = <T>(
  message: RejectedMessage,
  parse: (raw: unknown) => Parsed<T>,
  make: (value: T) => Input,
) => Input;

/** The same for the Update `decide`. */
export function heardDecision(run: Run, raw: unknown): Parsed<Decision> {
  return wholeTexts(run, raw, parseDecision(raw));
}
