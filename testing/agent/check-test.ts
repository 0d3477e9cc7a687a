/** A test is as closed as a definition: a word that is mistyped, or a value of another kind, would say nothing unheard. */
import type { Config } from '../../authoring/index.js';
import { unknownField } from '../../authoring/known-fields.js';
import { HoldfastError } from '../../core/state/errors.js';
import { isCassette } from '../cassette/cassette.js';
import { roleOf } from './agent-role.js';
import type { TestFailure, TestReply } from './model-script.js';
import type { TestDecision } from './people.js';

/** What is given, before it is believed. */
interface Given {
  readonly [field: string]: unknown;
}

/** Errors: InvalidFixture for a field that there is not, and for one of another kind. */
export function checkTest(given: unknown, fields: readonly string[]): void {
  const test = (given ?? {}) as Given;
  refuseUnknown('The test', test, fields);
  const { model, tools, approvals = checkTest, limitMs = 1 } = test;
  const isScript = Array.isArray(model) || typeof model === 'function';
  demand('model', isScript || isCassette(model), 'a list of turns or (request) => …');
  demand('approvals', typeof approvals === 'function', '(ask) => …');
  const isLimit = typeof limitMs === 'number' && limitMs > 0 && limitMs <= LIMIT_MS_MAX;
  demand('limitMs', isLimit, `1 to ${LIMIT_MS_MAX} ms`);
  for (const [name, one] of Object.entries(tools ?? {}))
    demand(`fake of ${name}`, isFake(one), "(input) => …, { run } or 'own'");
}

/** What a timer of Node can wait. */
const LIMIT_MS_MAX = 2_147_483_647;

/** Errors: InvalidFixture for a script of an agent that there is not. */
export function checkScripts(scripts: object = {}, { agents }: Config): void {
  const names = [...agents.values()].flatMap(({ name, supervisor }) => [
    name,
    roleOf(name),
    ...(supervisor === undefined ? [] : [supervisor.agent.name]),
  ]);
  refuseUnknown('`agents` of the test', scripts, names);
}

const TURN: readonly (keyof TestReply | keyof TestFailure)[] = [
  ...(['text', 'thinking', 'calls', 'output', 'stop', 'usage', 'takesMs'] as const),
  ...(['status', 'message', 'retryAfterMs'] as const),
];

/** Errors: InvalidFixture for a turn that cannot be played; `name` says which one. */
export function checkTurn(turn: unknown, name: string): void {
  for (const entry of Array.isArray(turn) ? (turn as readonly unknown[]) : [turn]) {
    if (typeof entry === 'string') continue;
    const fields = Object(entry) as Given;
    if (fields !== entry || !Array.isArray(fields['calls'] ?? [])) {
      throw unfit(`${name} is ${JSON.stringify(entry)}.`, 'Give a text or { calls: [ … ] }.');
    }
    refuseUnknown(name, fields, TURN);
  }
}

const SAID: readonly (keyof TestDecision)[] = ['decision', 'by', 'roles', 'reason'];
/** What only some decisions take: a run drops the field of another one. */
const GOES_WITH: { readonly [field: string]: readonly TestDecision['decision'][] } = {
  args: ['modify', 'replace'],
  tool: ['replace'],
  amount: ['approve'],
  grant: ['approve'],
  value: ['happened'],
};

/** Errors: InvalidFixture for a field that there is not, and for one that the decision does not take. */
export function checkDecision(given: TestDecision | null | undefined): void {
  if (typeof given !== 'object' || given === null) return;
  refuseUnknown('A decision', given, [...SAID, ...Object.keys(GOES_WITH)]);
  for (const [field, kinds] of Object.entries(GOES_WITH)) {
    if ((given as unknown as Given)[field] === undefined || kinds.includes(given.decision))
      continue;
    const one = `The decision ${JSON.stringify(given.decision)} takes no ${field}.`;
    throw unfit(one, `\`${field}\` goes with ${kinds.join(' or ')}.`);
  }
}

/** Errors: InvalidFixture for a word that there is not. */
export function refuseUnknown(what: string, given: object, fields: readonly string[]): void {
  const unknown = unknownField(given, fields);
  if (unknown !== undefined) throw unfit(`${what} has no field ${unknown.name}.`, unknown.hint);
}

function isFake(value: unknown): boolean {
  return (
    value === 'own' || typeof ((value as Partial<Given> | null)?.['run'] ?? value) === 'function'
  );
}

function demand(field: string, isFit: boolean, give: string): void {
  if (!isFit) throw unfit(`The test cannot use its ${field}.`, `Give ${give}.`);
}

function unfit(message: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidFixture', message, { hint });
}
