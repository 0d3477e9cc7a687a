/**
 * Calls of the client are as closed as its starts: an option under a misspelt name would count for nothing, without a word.
 * Invariant: what cannot be used is refused before anything is asked of a server or a store.
 */
import { HoldfastError } from '../core/state/errors.js';
import { DECISION_KINDS } from '../pure/ask-words.js';
import {
  each,
  FIELDS,
  isRecord,
  misfit,
  needed,
  oneOf,
  optionDefect,
  rules,
  words,
  WORDS,
  type OptionDefect,
  type OptionRule,
  type OptionRules,
  type Rules,
} from '../pure/options.js';
import type { Allowance, AskDecision, Decider } from './decide/decide.js';
import type { Speaker } from './goals/tell-goal.js';
import type { EventsOptions } from './read/event-stream.js';
import type { StreamOptions } from './read/token-stream.js';
import type { MessageOptions } from './runs/attach.js';
import type { WaitOptions } from './runs/outcome.js';
import { OVERLAPS } from './schedules/check-schedule.js';

const WAIT: OptionRules<WaitOptions> = rules('amount timeoutMs, signal signal');
const EVENTS: OptionRules<EventsOptions> = rules(
  'number since, signal signal, flag untilNow awaited, call onQuiet',
);
const STREAM: OptionRules<StreamOptions> = rules('text after, signal signal, flag untilNow');
const ALLOWANCE: OptionRules<Allowance> = rules('amount amount, object grant');
const SPEAKER: OptionRules<Speaker> = rules('text by id, texts roles');
const DECIDER: OptionRules<Decider> = rules('text! by, texts roles, words reason');
const DECISION: OptionRules<AskDecision> = {
  ...DECIDER,
  ...rules('text! askId, any value args, words tool argsHash, text nonce updateId'),
  ...rules('ms decidedAt, flag recorded'),
  decision: needed(oneOf(...DECISION_KINDS)),
  allowing: {
    is: '{ amount, grant }',
    fits: (value) => optionDefect('', value, ALLOWANCE) === undefined,
  },
};
const ANSWER = {
  kind: needed(oneOf(...words('happened not_happened stop text'))),
  ...rules('any value'),
};

const ID_OR_FILES: OptionRules<MessageOptions> = rules('words id, list attachments');
const MESSAGE: OptionRule = {
  is: 'an id, or { id, attachments }',
  fits: (value) => value === null || WORDS.fits(value),
  fields: ID_OR_FILES,
};

const WAITING = { ...each({ options: WAIT }, 'result outcome'), state: rules('amount limitMs') };

const ASK = rules('text! askId');

export const RUN_CALLS = {
  ...WAITING,
  events: { options: EVENTS },
  stream: { options: STREAM },
  decideOn: { wanted: DECISION },
  approve: { ...ASK, decider: DECIDER, allowing: ALLOWANCE },
  reject: { ...ASK, decider: DECIDER },
  modify: { ...ASK, ...rules('any args'), decider: DECIDER },
  replace: { ...ASK, action: rules('text! tool, any args'), decider: DECIDER },
  answer: { ...ASK, answer: ANSWER, decider: DECIDER },
  sendMessage: { ...rules('any text'), message: MESSAGE },
};

export const GOAL_CALLS = {
  ...WAITING,
  ...each({ who: SPEAKER }, 'pause resume wake stop cancel'),
  // What is said is checked as the goal would.
  ...each({ ...rules('any said'), who: SPEAKER }, 'say setBudget setPace handoffGoal'),
  watch: { options: EVENTS },
  brief: rules('count n'),
  steer: { ...rules('any text'), options: { ...SPEAKER, ...rules('flag wake') } },
  review: { options: { ...SPEAKER, ...rules('flag objectiveValid, text because') } },
  setPlan: { ...rules('any steps'), options: { ...SPEAKER, ...rules('amount revision') } },
  restartGoal: rules('object options'),
};

const OVERLAP = oneOf(...OVERLAPS);
export const SCHEDULE_CALLS = {
  trigger: { overlap: OVERLAP },
  backfill: { ...rules('object! span'), overlap: OVERLAP },
};

/** What a call takes, in order and by name: a value, or an object of options. */
type Taken = { readonly [argument: string]: OptionRule | Rules };
type CallRules<Calls> = { readonly [call in keyof Calls]?: Taken };

/** These give something at once; a refusal of any other call is how its promise ends. */
const AT_ONCE = oneOf(
  ...words('handle goal schedule forTenant follow followTree events stream watch'),
);

type CallsByName = { readonly [call: string]: (...given: readonly unknown[]) => unknown };

/** The same calls, which look at what they are given. Errors: InvalidTask, with the name in `details.path`. */
export function checkedCalls<Calls extends object>(calls: Calls, rules: CallRules<Calls>): Calls {
  const entries = Object.entries(rules as { readonly [call: string]: Taken });
  const checked = entries.map(([name, taken]) => {
    const call = (calls as unknown as CallsByName)[name]!;
    const now = (...given: readonly unknown[]): unknown => {
      for (const [index, argument] of Object.keys(taken).entries()) {
        checkArgument(name, argument, { rule: taken[argument]!, value: given[index] });
      }
      return call(...given);
    };
    const later = async (...given: readonly unknown[]): Promise<unknown> => now(...given);
    return [name, AT_ONCE.fits(name) ? now : later];
  });
  return { ...calls, ...(Object.fromEntries(checked) as Partial<Calls>) };
}

interface Argument {
  readonly rule: OptionRule | Rules;
  readonly value: unknown;
}

function checkArgument(call: string, name: string, { rule, value }: Argument): void {
  const isValue = isRule(rule);
  const fields = isValue ? rule.fields : rule;
  const defect =
    fields !== undefined && isRecord(value)
      ? optionDefect(call, value, fields)
      : argumentDefect(call, name, { rule: isValue ? rule : objectOf(rule), value });
  if (defect === undefined) return;
  const { message, hint, path = name } = defect;
  throw new HoldfastError('InvalidTask', message, { hint, details: { path } });
}

function argumentDefect(
  call: string,
  name: string,
  { rule, value }: { readonly rule: OptionRule; readonly value: unknown },
): OptionDefect | undefined {
  const wrong = misfit({ [name]: value }, { [name]: rule });
  if (wrong === undefined) return undefined;
  const { what, is, near } = wrong;
  const fields = rule.fields && ` The fields are ${Object.keys(rule.fields).join(', ')}.`;
  const message = `The argument ${name} of ${call} ${what}: it must be ${is}.`;
  return { message, hint: `${near}Give ${is}.${fields ?? ''}` };
}

function isRule(rule: OptionRule | Rules): rule is OptionRule {
  return typeof rule['fits' as keyof typeof rule] === 'function';
}

/** May be left out where none of the fields is needed. */
function objectOf(fields: Rules): OptionRule {
  const isNeeded = Object.values(fields).some((one) => one.isNeeded);
  return { ...(isNeeded ? needed(FIELDS) : FIELDS), fields };
}
