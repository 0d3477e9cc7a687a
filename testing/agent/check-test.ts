/** A test is as closed as a definition: a word that is mistyped, or a value of another kind, would say nothing unheard. */
import { unknownField, type KnownFields } from '../../authoring/known-fields.js';
import { HoldfastError } from '../../core/state/errors.js';
import { isCassette } from '../cassette/cassette.js';
import type { TestFailure, TestReply } from './model-script.js';

/** What `testAgent` is given, before it is believed. */
interface Given {
  readonly [field: string]: unknown;
}

const CALLBACKS = ['approvals', 'answers', 'onEvent'];

/** Errors: InvalidFixture for a field that there is not, and for one of another kind. */
export function checkTest(test: unknown, fields: KnownFields<Given>): void {
  if (!isFields(test))
    throw wrong('description', 'is no object', 'testAgent(agent, { goal, model })');
  refuseUnknown('The test', test, fields);
  const { model, agents = {}, tools = {}, unfaked = 'fail' } = test;
  if (!isCassette(model)) checkScript('model', model);
  if (!isFields(agents)) throw wrong('agents', 'is no object', "{ auditor: ['Fine.'] }");
  for (const [name, script] of Object.entries(agents)) checkScript(`agents.${name}`, script);
  if (!isFields(tools)) throw wrong('tools', 'is no object', "{ 'orders.read': (input) => … }");
  for (const [name, fake] of Object.entries(tools)) checkFake(name, fake);
  if (unfaked !== 'fail' && unfaked !== 'own') {
    throw wrong('unfaked', `is ${JSON.stringify(unfaked)}`, "'own' or 'fail'");
  }
  for (const name of CALLBACKS) {
    if (test[name] === undefined || typeof test[name] === 'function') continue;
    throw wrong(name, 'is no function', '(asked) => …');
  }
}

const REPLY: KnownFields<TestReply> = {
  text: true,
  thinking: true,
  calls: true,
  output: true,
  stop: true,
  usage: true,
  takesMs: true,
};
const FAILURE: KnownFields<TestFailure> = { status: true, message: true, retryAfterMs: true };

/** Why a turn of a script cannot be played; `name` says which turn. */
export function unfitTurn(turn: unknown, name: string): HoldfastError | undefined {
  for (const entry of Array.isArray(turn) ? (turn as readonly unknown[]) : [turn]) {
    if (typeof entry === 'string') continue;
    if (!isFields(entry) || !Array.isArray(entry['calls'] ?? [])) {
      return new HoldfastError('InvalidFixture', `${name} is ${JSON.stringify(entry)}.`, {
        hint: "Give a text, calls('orders.read', {…}), { calls: [{ tool, input }] } or { status }.",
      });
    }
    const unknown = unknownIn(name, entry, 'status' in entry ? FAILURE : REPLY);
    if (unknown !== undefined) return unknown;
  }
  return undefined;
}

/** Errors: InvalidFixture for a word that there is not. */
export function refuseUnknown(...given: Parameters<typeof unknownIn>): void {
  const unknown = unknownIn(...given);
  if (unknown !== undefined) throw unknown;
}

function unknownIn(
  what: string,
  given: object,
  fields: Parameters<typeof unknownField>[1],
): HoldfastError | undefined {
  const unknown = unknownField(given, fields);
  if (unknown === undefined) return undefined;
  return new HoldfastError('InvalidFixture', `${what} has no field ${unknown.name}.`, {
    hint: unknown.hint,
  });
}

function checkScript(name: string, script: unknown): void {
  if (Array.isArray(script) || typeof script === 'function') return;
  throw wrong(name, 'is no script', "['a reply', calls('orders.read', {…})] or (request) => …");
}

function checkFake(name: string, fake: unknown): void {
  const code = isFields(fake) ? fake['run'] : fake;
  if (fake === 'own' || typeof code === 'function') return;
  throw wrong(`tools[${JSON.stringify(name)}]`, 'is no fake', "(input) => …, { run } or 'own'");
}

function isFields(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(field: string, why: string, give: string): HoldfastError {
  return new HoldfastError('InvalidFixture', `The test cannot use its ${field}: it ${why}.`, {
    hint: `Give ${give}.`,
  });
}
