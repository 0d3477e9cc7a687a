/** What a scripted model says, checked before it is played: a word that is mistyped would be a reply without it. */
import type { Config } from '../../authoring/index.js';
import { shown } from '../../authoring/known-fields.js';
import type { Json } from '../../core/json/json.js';
import type { ReplyStop, Usage } from '../../core/state/model.js';
import {
  AMOUNT,
  ANYTHING,
  each,
  isRecord,
  needed,
  oneOf,
  optionDefect,
  TEXT,
  words,
  type OptionRule,
  type OptionRules,
} from '../../pure/options.js';
import { roleOf } from './agent-role.js';
import { checkFields, MS, refuseUnknown, unfit, WORDS } from './check-test.js';

/** A reply of the scripted model. */
export interface TestReply {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly TestReplyCall[];
  /** The answer as JSON, for a run that is asked for an output. */
  readonly output?: Json;
  /** Default: `tool_use` with calls, else `end_turn`. */
  readonly stop?: ReplyStop;
  /** Default: 1,000 tokens in, 100 out. */
  readonly usage?: Partial<Usage>;
  /** Virtual ms until it comes. */
  readonly takesMs?: number;
}

export interface TestReplyCall {
  /** As the agent names it: `orders.read`. */
  readonly tool: string;
  readonly input?: Json;
  readonly id?: string;
}

/** A vendor that answers with an error status: 408, 409, 429 and those from 500 are tried again. */
export interface TestFailure {
  readonly status: number;
  /** What the vendor says: the run is told of it in the words of production. */
  readonly message?: string;
  readonly retryAfterMs?: number;
}

/** A text is a reply with that text; a list has an entry for each attempt at its request, the last one repeats. */
export type TestTurn =
  string | TestReply | TestFailure | readonly (string | TestReply | TestFailure)[];

const STOPS: readonly ReplyStop[] = words(
  'end_turn tool_use max_tokens stop_sequence refusal pause_turn context_exceeded unknown',
);
const USAGE: OptionRules<Usage> = each(AMOUNT, 'input output cacheRead cacheWrite');

const REPLY: OptionRules<TestReply> = {
  ...each(WORDS, 'text thinking'),
  calls: { is: 'a list of { tool, input, id }', fits: Array.isArray },
  output: ANYTHING,
  stop: oneOf(...STOPS),
  usage: {
    is: 'numbers of tokens: { input, output, cacheRead, cacheWrite }',
    fits: (value) => optionDefect('usage', value, USAGE) === undefined,
  },
  takesMs: MS,
};
const FAILURE: OptionRules<TestFailure> = {
  status: needed({
    is: 'the status of an error, 400 to 599',
    fits: (value) => Number.isInteger(value) && Number(value) >= 400 && Number(value) <= 599,
  }),
  message: WORDS,
  retryAfterMs: MS,
};
const CALL: OptionRules<TestReplyCall> = { tool: needed(TEXT), input: ANYTHING, id: TEXT };

type Scripts = { readonly [agent: string]: unknown };

export const SCRIPT: OptionRule = {
  is: 'a list of turns or (request) => …',
  fits: (value) => Array.isArray(value) || typeof value === 'function',
};

/** Errors: InvalidFixture for a script of an agent that there is not, and for one that cannot be played. */
export function checkScripts(scripts: Scripts = {}, { agents }: Config, tested: string): void {
  const others = [...agents.values()].flatMap(({ name, supervisor }) => [
    // `model` is the script of the agent itself.
    ...(name === tested ? [] : [name, roleOf(name)]),
    ...(supervisor === undefined ? [] : [supervisor.agent.name]),
  ]);
  refuseUnknown('`agents` of the test', scripts, [...new Set(others)]);
  checkTurns(scripts);
}

/** By the names of agents. Errors: InvalidFixture; of a function's turns each is looked at when it is said. */
export function checkTurns(scripts: Scripts): void {
  for (const [agent, script] of Object.entries(scripts)) {
    if (!SCRIPT.fits(script)) {
      throw unfit(`The script of the agent ${agent} cannot be used.`, `Give ${SCRIPT.is}.`);
    }
    const turns: readonly unknown[] = Array.isArray(script) ? script : [];
    for (const [index, turn] of turns.entries()) checkTurn(turn, { call: index + 1, agent });
  }
}

/** Errors: InvalidFixture for a turn that cannot be played. */
export function checkTurn(
  turn: unknown,
  { call, agent }: { readonly call: number; readonly agent: string },
): void {
  const name = `Turn ${call} of the script of the agent ${agent}`;
  const entries: readonly unknown[] = Array.isArray(turn) && turn.length > 0 ? turn : [turn];
  for (const entry of entries) if (typeof entry !== 'string') checkEntry(entry, name);
}

function checkEntry(entry: unknown, name: string): void {
  if (!isRecord(entry)) {
    throw unfit(`${name} is ${shown(entry)}.`, 'Give a text or { calls: [ … ] }.');
  }
  refuseUnknown(name, entry, Object.keys({ ...REPLY, ...FAILURE }));
  const { text, output, calls = [] } = entry;
  const isFailure = Object.keys(FAILURE).some((field) => entry[field] !== undefined);
  checkFields(name, entry, isFailure ? FAILURE : REPLY);
  if (text !== undefined && output !== undefined) {
    throw unfit(`${name} has a text and an output.`, 'Give one of the two.');
  }
  for (const [index, call] of (calls as readonly unknown[]).entries()) {
    checkFields(`${name}, call ${index + 1},`, call, CALL);
  }
}
