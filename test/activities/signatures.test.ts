/** The last look at who approved, before anything starts. */
import { generateKeyPairSync } from 'node:crypto';
import { signerOf } from '../../client/decide/desk-signer.js';
import type { Decision } from '../../core/state/ask.js';
import { statementOf } from '../../core/ask/statement.js';
import { type SignedStatement } from '../../core/state/statement.js';
import type { ServerContext } from '../../connectors/index.js';
import type { Grant } from '../../core/state/effect.js';
import { ALL_TENANTS } from '../../store/desk-keys.js';
import { eventsFrom, SESSION_INIT } from '../store/fixtures.js';
import { attempt, executeInput, RUN, type Bed } from './setup.js';
import { bedWith, call, execute, FINANCIAL, KEYED_WRITE } from './tool-bed.js';

const desk = signerOf(generateKeyPairSync('ed25519').privateKey);
const KEY = { tenant: ALL_TENANTS, kid: desk.key.kid, at: 1, by: 'op' };
const ASK = `${RUN.runId}:1`;

const run = jest.fn(() => 'ran');
let bed: Bed;
beforeEach(async () => {
  run.mockClear();
  bed = await bedWith(run, FINANCIAL);
  await bed.store.addDeskKey({ ...KEY, key: desk.key.key });
});
afterEach(() => bed.end());

function signed(
  over: Partial<Decision> = {},
  { runId = RUN.runId, kind = 'approval' }: { runId?: string; kind?: 'approval' | 'outcome' } = {},
): SignedStatement {
  const decision: Decision = {
    v: 1,
    askId: ASK,
    argsHash: call.digest,
    decision: 'approve',
    by: 'mia',
    roles: ['manager'],
    decidedAt: 5,
    nonce: 'n',
    ...over,
  };
  const place = { tenant: RUN.tenant, runId, kind, policyVersion: 'p' } as const;
  const proven = desk.signDecision(place, decision);
  return { statement: statementOf(place, proven)!, signature: proven.proof! };
}

function grantWith(...statements: readonly SignedStatement[]): Grant {
  const { grant } = executeInput(call);
  return { ...grant, basis: 'ask', reference: ASK, approvedBy: ['mia'], signed: statements };
}

const outcomeOf = async (grant: Grant) => (await execute(bed, undefined, { grant })).outcome;

test('what the approvers signed carries the call, and the trail says on whose word it ran', async () => {
  expect(await outcomeOf(grantWith(signed()))).toMatchObject({ kind: 'ok' });
  const rows = await bed.store.readAudit(RUN.tenant, { limit: 9 });
  expect(rows).toMatchObject([
    { kind: 'effect_started', askId: ASK, facts: { approvedBy: ['mia'], argsHash: call.digest } },
    { kind: 'effect_ended', facts: { outcome: 'ok' } },
  ]);
});

test('a key that was retired still carries it', async () => {
  await bed.store.changeDeskKey({ ...KEY, to: 'retired' });
  expect(await outcomeOf(grantWith(signed()))).toMatchObject({ kind: 'ok' });
});

test('a key that was revoked carries nothing, and the trail says so', async () => {
  const { store } = bed;
  await store.changeDeskKey({ ...KEY, to: 'revoked' });
  expect(await outcomeOf(grantWith(signed()))).toMatchObject({ code: 'permission_denied' });
  expect(run).not.toHaveBeenCalled();
  const rows = await store.readAudit(RUN.tenant, { limit: 9 });
  expect(rows.at(-1)).toMatchObject({ kind: 'effect_refused' });
});

test.each<[string, () => readonly SignedStatement[]]>([
  ['nothing', () => []],
  ['a word on another run', () => [signed({}, { runId: 'run_2' })]],
  ['a word on other arguments', () => [signed({ argsHash: 'f'.repeat(64) })]],
  ['a word on another question', () => [signed({ askId: `${RUN.runId}:2` })]],
  ['a rejection', () => [signed({ decision: 'reject' })]],
  ['an altered word', () => [{ ...signed(), statement: { ...signed().statement, by: 'eve' } }]],
])('%s carries nothing', async (_what, statements) => {
  expect(await outcomeOf(grantWith(...statements()))).toMatchObject({ code: 'permission_denied' });
  expect(run).not.toHaveBeenCalled();
});

test.each([
  ['carries nothing where the run needs signatures', true, 'error'],
  ['counts where nobody must prove who they are', undefined, 'ok'],
])('an approval without any signatures %s', async (_what, requireProof, kind) => {
  const [begun] = eventsFrom(0, [{ ...SESSION_INIT, ...(requireProof && { requireProof }) }]);
  await bed.store.appendEvents({ ...RUN, execution: 'e1' }, [begun!]);
  const { signed: _, ...unsigned } = grantWith();
  expect(await outcomeOf(unsigned)).toMatchObject({ kind });
  expect(run).toHaveBeenCalledTimes(kind === 'ok' ? 1 : 0);
});

test.each([
  ['wants them', true],
  ['does not', false],
])(
  'the server of a call can be answered by what the run says of signed decisions: it %s',
  async (_what, requireProof) => {
    const said: unknown[] = [];
    const mcp = { connector: 'crm', tool: 'it', hash: 'h' };
    const ofServer = { ...KEYED_WRITE, mcp };
    const asking = await bedWith(async (_input: unknown, ctx: ServerContext) => {
      said.push(await ctx.wantsProof?.());
    }, ofServer);
    const [begun] = eventsFrom(0, [{ ...SESSION_INIT, ...(requireProof && { requireProof }) }]);
    await asking.store.appendEvents({ ...RUN, execution: 'e1' }, [begun!]);
    const grant: Grant = { ...executeInput(call).grant, basis: 'policy', reference: 'policy:7' };
    await execute(asking, undefined, { grant });
    expect(said).toEqual([requireProof]);
    await asking.end();
  },
);

test('a call that a rule allowed in place of a person is on the trail, with the rule', async () => {
  const grant: Grant = { ...executeInput(call).grant, basis: 'policy', reference: 'policy:7' };
  expect(await outcomeOf({ ...grant, approvedBy: ['policy:7'] })).toMatchObject({ kind: 'ok' });
  const facts = { basis: 'policy', rule: 'policy:7', approvedBy: ['policy:7'] };
  const rows = await bed.store.readAudit(RUN.tenant, { limit: 9 });
  expect(rows).toMatchObject([
    { kind: 'effect_started', facts },
    { kind: 'effect_ended', facts },
  ]);
  expect(rows[0]).not.toHaveProperty('askId');
});

test('a call of a tool that needs no approval is not on the trail', async () => {
  const free = await bedWith(run, KEYED_WRITE);
  const grant: Grant = { ...executeInput(call).grant, basis: 'policy', reference: 'policy:7' };
  expect((await execute(free, undefined, { grant })).outcome).toMatchObject({ kind: 'ok' });
  expect(await free.store.readAudit(RUN.tenant, { limit: 9 })).toEqual([]);
  await free.end();
});

const RECORDED = [
  { step: 'person_told', answer: 'happened', by: expect.any(Array) },
  { step: 'claim_burned', durationMs: expect.any(Number) },
  { step: 'outcome_recorded', durationMs: expect.any(Number) },
];

describe('what a person said of an outcome', () => {
  const OUTCOME = `${ASK}:outcome`;
  const record = (answer: 'happened' | 'not_happened', ...words: readonly SignedStatement[]) =>
    attempt(bed.activities().record_outcome, {
      v: 1,
      run: RUN,
      call,
      answer,
      by: ['mia'],
      signed: words,
      events: [],
    });
  const word = (decision: 'happened' | 'not_happened', over: Partial<Decision> = {}) =>
    signed({ decision, askId: OUTCOME, ...over }, { kind: 'outcome' });
  const rowOf = () => bed.store.getLedgerRow(RUN.tenant, call.key);
  const revoke = () => bed.store.changeDeskKey({ ...KEY, to: 'revoked' });

  test('counts with its signature', async () => {
    expect(await record('happened', word('happened'))).toEqual({ eventsUpTo: 0, steps: RECORDED });
    expect(await rowOf()).toMatchObject({ state: 'recorded', source: 'person' });
  });

  test.each(['happened', 'not_happened'] as const)(
    '%s changes nothing when its key was revoked, and the run is told which keys count',
    async (answer) => {
      await revoke();
      const next = signerOf(generateKeyPairSync('ed25519').privateKey);
      await bed.store.addDeskKey({ ...KEY, kid: next.key.kid, key: next.key.key });
      const unproven = { deskKeys: [next.key] };
      expect(await record(answer, word(answer))).toEqual({ eventsUpTo: 0, unproven });
      expect(await rowOf()).toBeUndefined();
    },
  );

  test('stays recorded when its key is revoked before it is delivered again', async () => {
    await record('happened', word('happened'));
    await revoke();
    expect(await record('happened', word('happened'))).toEqual({ eventsUpTo: 0, steps: RECORDED });
  });

  test.each<[string, () => readonly SignedStatement[]]>([
    ['nothing', () => []],
    ['the other answer', () => [word('not_happened')]],
    ['an approval', () => [signed()]],
    ['a word on another call', () => [word('happened', { askId: `${RUN.runId}:2:outcome` })]],
    ['a word on other arguments', () => [word('happened', { argsHash: 'f'.repeat(64) })]],
    [
      'a word on another run',
      () => [
        signed(
          { decision: 'happened', askId: OUTCOME },
          { kind: 'outcome', runId: `${RUN.runId}0` },
        ),
      ],
    ],
  ])('is not carried by %s', async (_what, words) => {
    expect(await record('happened', ...words())).toHaveProperty('unproven');
    expect(await rowOf()).toBeUndefined();
  });
});
