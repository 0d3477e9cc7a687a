/** Messages from outside: what is exactly as large as it may be is taken, and one more is refused. */
import { heardByGoal } from '../../../core/goal/signals.js';
import { parseGoalMessage } from '../../../core/messages/parse-goal-message.js';
import { parseGoalStart } from '../../../core/messages/parse-goal-start.js';
import {
  MESSAGE_BYTES_MAX,
  MESSAGE_CHARS_MAX,
  parseDecision,
  parseModelName,
  parseProvidedInput,
  parseThinkingTokens,
  parseUserMessage,
  THINKING_TOKENS_MAX,
} from '../../../core/messages/parse-message.js';
import { newerVersion, parseStart } from '../../../core/messages/parse-start.js';
import { sessionDefect } from '../../../core/messages/parse-session.js';
import { isReachable } from '../../../core/messages/run-id.js';

const DECISION = { askId: 'r:1', argsHash: 'h', decision: 'approve', by: 'pat', decidedAt: 1 };
const START = { v: 1, agent: 'refund', task: { goal: 'Refund order 1' } };
const PARENT = { kind: 'goal', id: 'g', n: 1, digest: 'd' };
const GOAL = { v: 1, goal: { objective: 'Match all invoices', agent: 'clerk' } };
const of = (length: number) => 'x'.repeat(length);
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
const GRANT = {
  matcher: { tool: 'issue_refund', when: [{ path: 'amount', lte: 5 }] },
  uses: 3,
  expiresInMs: 1_000,
};
const granting = (more: object) => ({ ...DECISION, grant: { ...GRANT, ...more } });
const matching = (when: readonly object[]) => granting({ matcher: { tool: 't', when } });
const conditions = (count: number) =>
  matching(Array.from({ length: count }, (_, index) => ({ path: `p${index}`, equals: index })));

type Sized = readonly [what: string, largest: number, taken: (size: number) => boolean];

const decision = (make: (size: number) => object) => (size: number) =>
  parseDecision({ ...DECISION, ...make(size) }).ok;
const start = (make: (size: number) => object) => (size: number) =>
  parseStart({ ...START, ...make(size) }).ok;

const goal = (make: (size: number) => object) => (size: number) =>
  parseGoalStart({ ...GOAL, ...make(size) }).ok;
const childEnded = (raw: unknown) => heardByGoal({ name: 'childEnded', raw, at: 1 });
const said = (body: object) => parseGoalMessage({ v: 1, id: 'm', by: 'ada', at: 1, ...body }).ok;

const SIZED: readonly Sized[] = [
  ['askId', 400, decision((size) => ({ askId: of(size) }))],
  ['argsHash', 400, decision((size) => ({ argsHash: of(size) }))],
  ['by', 400, decision((size) => ({ by: of(size) }))],
  ['nonce', 400, decision((size) => ({ nonce: of(size) }))],
  ['kid', 64, decision((size) => ({ kid: of(size) }))],
  ['proof', 2_000, decision((size) => ({ proof: of(size) }))],
  ['roles', 50, decision((size) => ({ roles: Array.from({ length: size }, () => 'r') }))],
  ['a role', 400, decision((size) => ({ roles: [of(size)] }))],
  ['value', 4_094, decision((size) => ({ decision: 'happened', value: of(size) }))],
  ['depth of value', 64, decision((size) => ({ decision: 'happened', value: nested(size) }))],
  ['args', 8_190, decision((size) => ({ decision: 'modify', args: of(size) }))],
  ['tool', 128, decision((size) => ({ decision: 'replace', args: {}, tool: of(size) }))],
  ['amount', Number.MAX_SAFE_INTEGER, decision((size) => ({ amount: size }))],
  ['conditions of a grant', 20, decision((size) => conditions(size))],
  ['path of a grant', 128, decision((size) => matching([{ path: of(size), equals: 1 }]))],
  [
    'tool of a grant',
    128,
    decision((size) => granting({ matcher: { ...GRANT.matcher, tool: of(size) } })),
  ],
  ['equals of a grant', 1_022, decision((size) => matching([{ path: 'p', equals: of(size) }]))],
  ['uses of a grant', 1_000, decision((size) => granting({ uses: size }))],
  ['days of a grant', 366, decision((size) => granting({ expiresInMs: size * 86_400_000 }))],
  ['message', MESSAGE_CHARS_MAX, (size) => parseUserMessage({ text: of(size) }).ok],
  ['id of a message', 400, (size) => parseUserMessage({ text: 'x', id: of(size) }).ok],
  ['askId of an answer', 400, (size) => parseProvidedInput({ askId: of(size), value: 1 }).ok],
  ['value of an answer', 4_094, (size) => parseProvidedInput({ askId: 'a', value: of(size) }).ok],
  ['by of an answer', 400, (size) => parseProvidedInput({ askId: 'a', value: 1, by: of(size) }).ok],
  ['model', 200, (size) => parseModelName(of(size)).ok],
  ['thinking tokens', THINKING_TOKENS_MAX, (size) => parseThinkingTokens(size).ok],
  ['agent', 200, start((size) => ({ agent: of(size) }))],
  ['tenant', 64, start((size) => ({ tenant: of(size) }))],
  ['model of a start', 200, start((size) => ({ model: of(size) }))],
  ['depth of a start', 63, start((size) => ({ more: nested(size) }))],
  [
    'a start',
    400_000 - JSON.stringify({ ...START, more: '' }).length,
    start((size) => ({ more: of(size) })),
  ],
  ['id of a session', 128, start((size) => ({ session: { id: of(size) } }))],
  ['cwd of a session', 1_024, start((size) => ({ session: { cwd: of(size) } }))],
  ['goal as a parent', 96, start((size) => ({ parent: { ...PARENT, id: of(size) } }))],
  ['run as a parent', 120, start((size) => ({ parent: { ...PARENT, kind: 'run', id: of(size) } }))],
  ['digest of a parent', 200, start((size) => ({ parent: { ...PARENT, digest: of(size) } }))],
  ['store of a goal', 32, goal((size) => ({ store: size === 32 ? 'a'.repeat(32) : of(size) }))],
  ['depth of the start of a goal', 63, goal((size) => ({ more: nested(size) }))],
  ['caller of a goal', 200, goal((size) => ({ caller: of(size) }))],
  ['run that has ended', 200, (size) => childEnded(of(size)).type === 'child_ended'],
  ['pace of a goal', 366 * 86_400_000, (everyMs) => said({ type: 'setPace', pace: { everyMs } })],
];

test.each(SIZED)('%s: %i is taken, one more is not', (_what, largest, taken) => {
  expect([taken(largest), taken(largest + 1)]).toEqual([true, false]);
});

test('the bytes of a message count as well as its characters', () => {
  const control = (count: number) => String.fromCharCode(1).repeat(count);
  const bytes = (text: string) => JSON.stringify(text).length;
  const most = Math.floor((MESSAGE_BYTES_MAX - 3) / 6);
  const largest = `${control(most)}${of(MESSAGE_BYTES_MAX - bytes(control(most)))}`;
  expect(bytes(largest)).toBe(MESSAGE_BYTES_MAX);
  expect(parseUserMessage({ text: `${largest}` }).ok).toBe(true);
  expect(parseUserMessage({ text: `${largest}x` }).ok).toBe(false);
});

test.each([
  ['uses', (uses: unknown) => granting({ uses }), [1], [0, -1, 1.5, '1', undefined]],
  ['an end', (expiresInMs: unknown) => granting({ expiresInMs }), [1], [0, 0.5, '1', undefined]],
  [
    'lte',
    (lte: unknown) => matching([{ path: 'p', lte }]),
    [0, -1.5],
    ['1', null, Infinity, undefined],
  ],
  [
    'gte',
    (gte: unknown) => matching([{ path: 'p', gte }]),
    [0, -1.5],
    ['1', null, Infinity, undefined],
  ],
  [
    'exists',
    (exists: unknown) => matching([{ path: 'p', exists }]),
    [true, false],
    ['true', 1, null],
  ],
  ['a matcher', (matcher: unknown) => granting({ matcher }), [GRANT.matcher], [null, [], 'x']],
])('%s of a grant has its type', (_what, make, good, bad) => {
  const taken = (value: unknown): boolean => parseDecision(make(value)).ok;
  expect(good.map(taken)).toEqual(good.map(() => true));
  expect(bad.map(taken)).toEqual(bad.map(() => false));
});

test.each([
  ['argsHash', [undefined, null, '', 'h'], [1, {}]],
  ['decidedAt', [0, -1, 5], ['1', 1.5, undefined]],
  ['reason', [undefined, '', 'why'], [1, null]],
  ['roles', [[], ['a']], ['a', [1], {}, ['']]],
  ['decision', ['approve', 'reject', 'stop'], ['', 'toString', undefined]],
])('%s of a decision has its type', (name, good, bad) => {
  const taken = (value: unknown): boolean => parseDecision({ ...DECISION, [name]: value }).ok;
  expect(good.map(taken)).toEqual(good.map(() => true));
  expect(bad.map(taken)).toEqual(bad.map(() => false));
});

test('an answer needs a value, and roles that are texts', () => {
  const answer = { askId: 'a', value: null };
  expect(parseProvidedInput(answer)).toStrictEqual({
    ok: true,
    value: { askId: 'a', value: null, by: 'unknown' },
  });
  expect(parseProvidedInput({ ...answer, roles: ['r'] })).toMatchObject({
    value: { roles: ['r'] },
  });
  expect(parseProvidedInput({ askId: 'a' })).toMatchObject({ ok: false });
  expect(parseProvidedInput({ ...answer, roles: 'r' })).toMatchObject({ ok: false });
});

test('a model is named without the blanks around it, and a fault quotes what could not be decoded', () => {
  expect(parseModelName(' haiku ')).toEqual({ ok: true, value: 'haiku' });
  expect(parseModelName({ $undecodable: 'no bytes' })).toEqual({
    ok: false,
    reason: 'undecodable: no bytes',
  });
  expect(parseModelName({ $undecodable: 1 })).toMatchObject({
    reason: expect.not.stringMatching(/undecodable/),
  });
  expect(parseThinkingTokens(-1).ok).toBe(false);
  expect(parseThinkingTokens(0)).toEqual({ ok: true, value: 0 });
  expect(parseThinkingTokens(1.5).ok).toBe(false);
  expect(parseThinkingTokens(null)).toEqual({ ok: true, value: null });
});

test.each([
  ['tenant', ['default', undefined], [1, '', 'a b', null]],
  ['store', ['0'.repeat(32), undefined], ['0'.repeat(31), 'g'.repeat(32), 1, null]],
  ['model', ['haiku', undefined], ['', 1]],
  ['agent', ['refund'], ['', 1, undefined]],
  ['session', [undefined, {}, { id: 'a' }], [null, [], 'x', 1]],
  ['task', [{ goal: 'x' }], [undefined, null, [], { goal: '' }, { goal: 1 }]],
])('%s of a start has its form', (name, good, bad) => {
  const taken = (value: unknown): boolean => parseStart({ ...START, [name]: value }).ok;
  expect(good.map(taken)).toEqual(good.map(() => true));
  expect(bad.map(taken)).toEqual(bad.map(() => false));
});

test('a grant keeps each of its conditions', () => {
  const when = [
    { path: 'a', lte: 5 },
    { path: 'b', gte: 2 },
    { path: 'c', equals: 'x' },
    { path: 'd', exists: true },
  ];
  const parsed = parseDecision(matching(when));
  expect(parsed.ok && parsed.value.grant?.matcher.when).toEqual(when);
});

test('a start that cannot be decoded says why', () => {
  expect(parseStart({ $undecodable: 'no bytes' })).toMatchObject({
    reason: expect.stringContaining('no bytes'),
  });
});

test.each<[unknown, boolean]>([
  [{ v: 1 }, false],
  [{ v: 2 }, true],
  [{ v: 0 }, false],
  [{ v: 1.5 }, false],
  [{ v: '2' }, false],
  [{}, false],
  [null, false],
  ['x', false],
])('the start %j waits for a newer release: %s', (raw, waits) => {
  expect(newerVersion(raw) !== undefined).toBe(waits);
});

test.each<[object, string | undefined]>([
  [{ id: 'a', resume: 'b', at: 'node', fork: true, cwd: '/' }, undefined],
  [{ id: 1 }, 'session.id'],
  [{ id: 'a b' }, 'session.id'],
  [{ resume: '' }, 'session.resume must be'],
  [{ at: 1, resume: 'a' }, 'session.at'],
  [{ cwd: null }, 'session.cwd'],
  [{ fork: false, resume: 'a' }, 'session.fork'],
  [{ fork: true }, 'what is forked'],
  [{ at: 'node' }, 'what is forked'],
  [{ resume: 'a', fork: true }, undefined],
  [{ resume: 'a', at: 'node' }, undefined],
  [{ resume: 'a' }, undefined],
  [{ cwd: '/' }, undefined],
])('the session %j has the defect %s', (session, defect) => {
  const found = sessionDefect(session);
  if (defect === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(defect);
});

test.each([
  ['.', false],
  ['..', false],
  ['...', true],
  ['run_1', true],
])('a run named %j can be reached: %s', (runId, reachable) => {
  expect(isReachable(runId)).toBe(reachable);
});
