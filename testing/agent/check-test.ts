/** A test is as closed as a definition: a word that is mistyped, or a value of another kind, would say nothing unheard. */
import type { Config } from '../../authoring/index.js';
import { unknownField } from '../../authoring/known-fields.js';
import { HoldfastError } from '../../core/state/errors.js';
import { isCassette } from '../cassette/cassette.js';
import { roleOf } from './agent-role.js';

/** What is given, before it is believed. */
interface Given {
  readonly [field: string]: unknown;
}

/** Errors: InvalidFixture for a field that there is not, and for one of another kind. */
export function checkTest(given: unknown, fields: readonly string[]): void {
  const test = (given ?? {}) as Given;
  refuseUnknown('The test', test, fields);
  const { model, tools, approvals = checkTest, limitMs = 1, startAt = 0, messages = [] } = test;
  const isScript = Array.isArray(model) || typeof model === 'function';
  demand('model', isScript || isCassette(model), 'a list of turns or (request) => …');
  demand('approvals', typeof approvals === 'function', '(ask) => …');
  const isLimit = typeof limitMs === 'number' && limitMs > 0 && limitMs <= LIMIT_MS_MAX;
  demand('limitMs', isLimit, `1 to ${LIMIT_MS_MAX} ms`);
  demand('startAt', Number.isSafeInteger(startAt) && Number(startAt) >= 0, 'ms since epoch');
  const areTexts = Array.isArray(messages) && messages.every((one) => typeof one === 'string');
  demand('messages', areTexts, 'a list of texts');
  for (const [name, one] of Object.entries(tools ?? {}))
    demand(`fake of ${name}`, isFake(one), "(input) => …, { run } or 'own'");
}

const STATUS = { least: 400, most: 599 };

/** What a timer of Node can wait. */
const LIMIT_MS_MAX = 2_147_483_647;

/** Errors: InvalidFixture for a script of an agent that there is not. */
export function checkScripts(scripts: object = {}, { agents }: Config): void {
  const names = [...agents.values()].flatMap(({ name, supervisor }) => [
    name,
    roleOf(name),
    ...(supervisor === undefined ? [] : [supervisor.agent.name]),
  ]);
  refuseUnknown('`agents` of the test', scripts, [...new Set(names)]);
}

/** Errors: InvalidFixture for a turn that cannot be played; `name` says which one. */
export function checkTurn(turn: unknown, name: string, known: readonly string[]): void {
  for (const entry of Array.isArray(turn) ? (turn as readonly unknown[]) : [turn]) {
    if (typeof entry === 'string') continue;
    const fields = Object(entry) as Given;
    if (fields !== entry || !Array.isArray(fields['calls'] ?? [])) {
      throw unfit(`${name} is ${JSON.stringify(entry)}.`, 'Give a text or { calls: [ … ] }.');
    }
    refuseUnknown(name, fields, known);
    const { status = STATUS.least } = fields;
    if (!(Number(status) >= STATUS.least && Number(status) <= STATUS.most))
      throw unfit(
        `${name} has the status ${String(status)}, which is no error.`,
        'Give one of 400 to 599.',
      );
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

export function unfit(message: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidFixture', message, { hint });
}
