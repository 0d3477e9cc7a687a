/** What a scripted model says, checked before it is played: a word that is mistyped would be a reply without it. */
import type { Config } from '../../authoring/index.js';
import { shown } from '../../authoring/known-fields.js';
import type { ReplyStop } from '../../core/state/model.js';
import {
  isRecord,
  needed,
  oneOf,
  rules,
  words,
  type OptionRule,
  type OptionRules,
} from '../../pure/options.js';
import { CALL, callDefect, TOKENS } from '../../providers/scripted/reply-fields.js';
import { roleOf } from './agent-role.js';
import { checkFields, refuseUnknown, unfit } from './check-test.js';
import type { TestFailure, TestReply } from './test-turn.js';

const STOPS: readonly ReplyStop[] = words(
  'end_turn tool_use max_tokens stop_sequence refusal pause_turn context_exceeded unknown',
);
const REPLY: OptionRules<TestReply> = {
  ...rules('words text thinking, list calls, any output, wait takesMs'),
  stop: oneOf(...STOPS),
  usage: TOKENS,
};
const FAILURE: OptionRules<TestFailure> = {
  ...rules('words message, ms retryAfterMs, wait takesMs'),
  status: needed({
    is: 'the status of an error, 400 to 599',
    fits: (value) => Number(value) >= 400 && Number(value) <= 599,
  }),
};

export const SCRIPT: OptionRule = {
  is: 'a list of turns or (request) => …',
  fits: (value) => Array.isArray(value) || typeof value === 'function',
};

type Scripts = { readonly [agent: string]: unknown };

/** Errors: InvalidFixture for a script of an agent that there is not, and for one that cannot be played. */
export function checkScripts(scripts: Scripts = {}, { agents }: Config, tested: string): void {
  const others = [...agents.values()].flatMap(({ name, supervisor }) => [
    // `model` is the script of the agent itself.
    ...(name === tested ? [] : [name, roleOf(name)]),
    ...(supervisor === undefined ? [] : [supervisor.agent.name]),
  ]);
  if (Object.hasOwn(scripts, tested) && scripts[tested] !== undefined && !others.includes(tested)) {
    const hint = 'Write it as `model`, and leave it out of `agents`.';
    throw unfit(`\`agents\` of the test has a script of ${tested}, the tested agent itself.`, hint);
  }
  refuseUnknown('`agents` of the test', scripts, [...new Set(others)]);
  checkTurns(scripts);
}

/** By the names of agents. Errors: InvalidFixture; of a function's turns each is looked at when it is said. */
export function checkTurns(scripts: Scripts): void {
  for (const [agent, script] of Object.entries(scripts)) {
    checkFields('`agents`', { [agent]: script }, { [agent]: SCRIPT });
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
  const entries: readonly unknown[] = Array.isArray(turn) ? turn : [turn];
  for (const entry of entries) if (typeof entry !== 'string') checkEntry(entry, name);
}

function checkEntry(entry: unknown, name: string): void {
  if (!isRecord(entry)) {
    throw unfit(`${name} is ${shown(entry)}.`, 'Give a text or { calls: [ … ] }.');
  }
  refuseUnknown(name, entry, Object.keys({ ...REPLY, ...FAILURE }));
  const isFailure = Object.keys(FAILURE).some(
    (field) => entry[field] !== undefined && !Object.hasOwn(REPLY, field),
  );
  checkFields(name, entry, isFailure ? FAILURE : REPLY);
  const { text, output } = entry;
  if (text !== undefined && output !== undefined) {
    throw unfit(`${name} has a text and an output.`, 'Give one of the two.');
  }
  const defect = callDefect(name, entry, CALL);
  if (defect !== undefined) throw unfit(defect.message, defect.hint);
}
