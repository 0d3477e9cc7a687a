/** How effects that people decided on ended, in the audit trail: by the commit with which the ledger learns it. */
import { generateKeyPairSync } from 'node:crypto';
import { signerOf } from '../../client/decide/desk-signer.js';
import type { Decision } from '../../core/state/ask.js';
import { statementOf } from '../../core/ask/statement.js';
import { ToolError } from '../../authoring/index.js';
import type { Grant } from '../../core/state/effect.js';
import { ALL_TENANTS } from '../../store/desk-keys.js';
import type { TransactionStep } from '../../store/store.js';
import { attempt, effect, environmentOf, executeInput, RUN } from './setup.js';
import {
  bedWith,
  call,
  execute,
  FINANCIAL,
  interrupted,
  KEYED_WRITE,
  SUBJECT,
  TARGET,
  type Run,
  type Shape,
  type ToolBed,
} from './tool-bed.js';

let bed: ToolBed;
afterEach(() => bed.end());

/** What the trail says of the effect, in order. */
async function trail(): Promise<readonly string[]> {
  const rows = await bed.store.readAudit(RUN.tenant, { limit: 99 });
  return rows.map(({ kind, facts: { outcome, code, toldBy } }) =>
    [kind, outcome, code, toldBy].filter((part) => typeof part === 'string').join(' '),
  );
}

const { grant: _, maxRetries: __, ...asked } = executeInput(call);
/** When the claim has run out. */
const reconcile = () =>
  attempt(bed.activities({ clock: () => Date.now() + 86_400_000 }).reconcile_tool, asked);
const sayOutcome = (answer: 'happened' | 'not_happened') => {
  const input = { v: 1, run: RUN, call, answer, by: ['stan'], events: [] } as const;
  return attempt(bed.activities().record_outcome, input);
};
const resets: Run = () => Promise.reject(new Error('reset'));
const start = async (run: Run, shape: Shape = FINANCIAL) => (bed = await bedWith(run, shape));

test.each<[string, Run, string]>([
  ['returned', () => 'ran', 'effect_ended ok tool'],
  [
    'said that nothing happened',
    () => {
      throw new ToolError('closed');
    },
    'effect_ended error execution_error tool',
  ],
  ['failed otherwise', resets, 'effect_ended ambiguous tool'],
])('a tool that %s', async (_what, run, end) => {
  await start(run);
  await execute(bed);
  expect(await trail()).toEqual(['effect_started', end]);
});

test('a result and its end are on disk together, or neither is', async () => {
  await start(() => 'ran');
  const { store } = bed;
  let broken = true;
  const failing = {
    ...store,
    together: (work: Parameters<typeof store.together>[0]) =>
      store.together((calls) =>
        work({
          ...calls,
          appendAudit: async (tenant, entries) => {
            if (broken && entries.some(({ kind }) => kind === 'effect_ended')) {
              broken = false;
              throw new Error('The disk is full.');
            }
            await calls.appendAudit(tenant, entries);
          },
        }),
      ),
  } as typeof store;
  const { execute_tool } = bed.activities({ store: failing });
  const { outcome } = await attempt(execute_tool, executeInput(call));
  expect(outcome).toMatchObject({ kind: 'ok' });
  expect(await trail()).toEqual(['effect_started', 'effect_ended ok tool']);
});

test('a worker that dies as soon as it has kept the result leaves its end behind', async () => {
  await start(() => 'ran');
  const { store } = bed;
  let die = (): void => undefined;
  const death = new Promise<void>((resolve) => (die = resolve));
  let keep = (): void => undefined;
  const kept = new Promise<void>((resolve) => (keep = resolve));
  const dying = {
    ...store,
    async together(work: Parameters<typeof store.together>[0], step?: TransactionStep) {
      const value = await store.together(work);
      if (step?.step !== 'record') return value;
      keep();
      await death;
      throw new Error('dead');
    },
  } as typeof store;
  const info = effect();
  const { execute_tool } = bed.activities({ store: dying });
  const first = attempt(execute_tool, executeInput(call), info);
  await kept;
  expect((await execute(bed, info)).outcome).toMatchObject({ kind: 'ok', reused: true });
  expect(await trail()).toEqual(['effect_started', 'effect_ended ok tool']);
  die();
  await first;
});

test('a start that is told to try again, and the next one, each have their end', async () => {
  let times = 0;
  await start(() => {
    times += 1;
    if (times === 1) throw new ToolError('retryable_error', 'busy');
    return 'ran';
  }, KEYED_WRITE);
  const info = effect();
  await expect(execute(bed, info)).rejects.toThrow('busy');
  await execute(bed, info);
  expect(await trail()).toEqual([
    'effect_started',
    'effect_ended error retryable_error tool',
    'effect_started',
    'effect_ended ok tool',
  ]);
});

test('a start that was stopped', async () => {
  await start(
    (_input, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  await interrupted(bed);
  expect(await trail()).toEqual(['effect_started', 'effect_ended ambiguous tool']);
});

test('a claim of which nothing came is taken back in the trail, too', async () => {
  await start(() => 'ran');
  const { store } = bed;
  const environment = environmentOf(effect());
  const late = {
    ...store,
    async together(work: Parameters<typeof store.together>[0], step?: TransactionStep) {
      const value = await store.together(work);
      if (step?.step === 'claim') environment.cancel();
      return value;
    },
  } as typeof store;
  const { execute_tool } = bed.activities({ store: late });
  await environment.run(execute_tool, executeInput(call));
  expect(await trail()).toEqual(['effect_started', 'effect_ended error not_executed tool']);
  expect(await store.getLedgerRow(RUN.tenant, call.key)).toMatchObject({ state: 'void' });
});

describe('an execution that has gone', () => {
  /** A worker that died when the tool had been started. */
  async function gone(probe?: () => unknown): Promise<void> {
    await start(resets, { ...FINANCIAL, ...(probe && { probe }) });
    const { store } = bed;
    const { grant } = executeInput(call);
    await store.claim({ ...TARGET, ...SUBJECT, claimedUntil: 1, sameKeyRetry: false });
    const facts = {
      tool: 'it',
      key: call.key,
      argsHash: call.digest,
      attempt: 1,
      approvedBy: grant.approvedBy,
    };
    const entry = { at: 1, kind: 'effect_started', runId: RUN.runId, askId: 'a', facts } as const;
    await store.appendAudit(RUN.tenant, [entry]);
  }
  const TAKEN = ['effect_started', 'effect_ended ambiguous nobody'];

  test.each<[string, unknown, readonly string[]]>([
    ['finds it', 'ran', [...TAKEN, 'effect_ended ok probe']],
    ['does not find it', null, [...TAKEN, 'effect_ended not_happened probe']],
  ])('is ended by its probe, which %s', async (_what, answer, said) => {
    await gone(() => answer);
    await reconcile();
    await reconcile();
    expect(await trail()).toEqual(said);
    const rows = await bed.store.readAudit(RUN.tenant, { limit: 9 });
    expect(rows.at(-1)).toMatchObject({ askId: 'a', facts: { approvedBy: ['ada'], tool: 'it' } });
  });

  test.each([
    ['happened', 'effect_ended ok person'],
    ['not_happened', 'effect_ended not_happened person'],
  ] as const)('is ended by a person who says %s', async (answer, end) => {
    await gone();
    await reconcile();
    await sayOutcome(answer);
    await sayOutcome(answer);
    expect(await trail()).toEqual([...TAKEN, end]);
  });

  test('is not ended twice when the tool had told it itself', async () => {
    await start(resets);
    await execute(bed);
    await reconcile();
    expect(await trail()).toEqual(['effect_started', 'effect_ended ambiguous tool']);
  });
});

test.each<[string, Shape, readonly string[]]>([
  ['is not followed where nobody has to be asked', { effect: 'write', idempotency: 'none' }, []],
  [
    'is followed where people would have been asked',
    FINANCIAL,
    ['effect_started', 'effect_ended ambiguous tool', 'effect_ended ok person'],
  ],
])('what a rule allowed %s', async (_what, shape, told) => {
  await start(resets, shape);
  const { grant } = executeInput(call);
  await execute(bed, effect(), { grant: { ...grant, basis: 'policy' } });
  await reconcile();
  await sayOutcome('happened');
  expect(await trail()).toEqual(told);
});

test('a key that is revoked after the payment does not make it a refused one', async () => {
  const desk = signerOf(generateKeyPairSync('ed25519').privateKey);
  const key = { tenant: ALL_TENANTS, kid: desk.key.kid, at: 1, by: 'op' };
  await start(() => 'ran');
  await bed.store.addDeskKey({ ...key, key: desk.key.key });
  const grant = signedGrant(desk);
  const info = effect();
  await execute(bed, info, { grant });
  await bed.store.changeDeskKey({ ...key, to: 'revoked' });
  expect((await execute(bed, info, { grant })).outcome).toMatchObject({ kind: 'ok' });
  expect(await trail()).toEqual(['effect_started', 'effect_ended ok tool']);
});

function signedGrant(desk: ReturnType<typeof signerOf>): Grant {
  const askId = `${RUN.runId}:1`;
  const decision: Decision = {
    v: 1,
    askId,
    argsHash: call.digest,
    decision: 'approve',
    by: 'mia',
    roles: [],
    decidedAt: 5,
    nonce: 'n',
  };
  const { tenant, runId } = RUN;
  const place = { tenant, runId, kind: 'approval', policyVersion: 'p' } as const;
  const proven = desk.signDecision(place, decision);
  const signed = [{ statement: statementOf(place, proven)!, signature: proven.proof! }];
  return { ...executeInput(call).grant, reference: askId, approvedBy: ['mia'], signed };
}
