/** Business controls where they bind: in the transaction that claims a call. */
import { z } from 'zod';
import { defineTool, ToolError, type Tool } from '../../authoring/index.js';
import type { ExecuteToolInput, ToolCallRef } from '../../core/state/effect.js';
import type { Json } from '../../core/json/json.js';
import { attempt, callOf, effect, executeInput, RUN, startBed, type Bed } from './setup.js';

const T0 = Date.UTC(2030, 0, 15, 12);
const DAY = 86_400_000;

let bed: Bed;
let paid: string[];
let now: number;
let refuse: boolean;
let probe: unknown;

beforeEach(() => {
  paid = [];
  now = T0;
  refuse = false;
  probe = null;
});
afterEach(() => bed.end());

type Controls = Pick<Parameters<typeof payment>[0], 'limits' | 'identity'>;

function payment(definition: Partial<Parameters<typeof defineTool<typeof INPUT>>[0]>): Tool {
  return defineTool({
    name: 'pay',
    version: '1',
    effect: 'financial',
    idempotency: 'keyed',
    input: INPUT,
    run: (_, ctx) => {
      if (refuse) throw new ToolError('closed');
      paid.push(ctx.idempotencyKey);
      return 'paid';
    },
    probe: () => probe,
    ...definition,
  });
}

const INPUT = z.object({ order: z.string(), cents: z.number(), who: z.string() });

async function bedWith(controls: Controls, more: object = {}): Promise<void> {
  bed = await startBed({ tools: [payment({ ...controls, ...more })] });
}

interface Payment {
  readonly key?: string;
  readonly run?: string;
  readonly order?: string;
  readonly cents?: number;
  readonly who?: string;
  readonly attempt?: number;
  readonly repeats?: readonly string[];
}

let nextKey = 1;

function callFor({ key, order = 'O-1', cents = 100, who = 'cora', attempt: n }: Payment) {
  const args: Json = { order, cents, who };
  return callOf('pay', args, { key: key ?? `key-${nextKey++}`, ...(n && { attempt: n }) });
}

function inputFor(payment: Payment, call: ToolCallRef): ExecuteToolInput {
  const base = executeInput(call, { run: { ...RUN, runId: payment.run ?? 'run_1' } });
  const { repeats } = payment;
  return { ...base, grant: { ...base.grant, ...(repeats && { repeats }) } };
}

async function pay(payment: Payment = {}, effectId?: string) {
  const input = inputFor(payment, callFor(payment));
  const activities = bed.activities({ clock: () => now });
  return (await attempt(activities.execute_tool, input, effect(effectId))).outcome;
}

const PAID = { kind: 'ok' };
const over = (text: RegExp) => ({
  kind: 'error',
  code: 'limit_exceeded',
  message: expect.stringMatching(text),
});

describe('the freeze switch', () => {
  const freeze = (scope: object, more: object = {}) =>
    bed.store.setFreeze('default', {
      id: 'frz_1',
      scope: scope as { kind: 'tenant' },
      by: 'mia',
      reason: 'fraud wave',
      at: T0 - 1,
      ...more,
    });

  test.each([
    ['its name', { kind: 'tool', pattern: 'pay' }, true],
    ['a prefix of its name', { kind: 'tool', pattern: 'p*' }, true],
    ['another tool', { kind: 'tool', pattern: 'send' }, false],
    ['everything of the tenant', { kind: 'tenant' }, true],
    ['another agent', { kind: 'agent', agent: 'other' }, false],
  ])('a freeze of %s', async (_what, scope, stops) => {
    await bedWith({});
    await freeze(scope);
    const outcome = await pay({ key: 'k' });
    if (!stops) return expect(outcome).toMatchObject(PAID);
    expect(outcome).toMatchObject({
      kind: 'error',
      code: 'frozen',
      message: expect.stringMatching(/^Nothing was done: pay is frozen.*frz_1.*fraud wave.*again/s),
    });
    expect(paid).toEqual([]);
    expect(await bed.store.getLedgerRow('default', 'k')).toBeUndefined();
  });

  test('of an agent stops the runs of that agent', async () => {
    await bedWith({});
    await bed.store.appendEvents({ ...RUN, execution: 'e' }, [
      {
        type: 'session_init',
        agent: 'refund',
        taskId: 't',
        goal: { text: 'x' },
        model: 'm',
        tools: [],
        versions: {},
        stamp: {
          seq: 0,
          runId: 'run_1',
          traceId: 'x',
          at: 1,
          phase: 'initializing',
          step: 0,
          turn: 0,
        },
      },
    ]);
    await freeze({ kind: 'agent', agent: 'refund' });
    expect(await pay()).toMatchObject({ code: 'frozen' });
    expect(await pay({ run: 'run_2' })).toMatchObject(PAID);
  });

  test('what was lifted, or has ended, stops nothing', async () => {
    await bedWith({});
    await freeze({ kind: 'tenant' }, { until: T0 + 10 });
    expect(await pay()).toMatchObject({ code: 'frozen' });
    now = T0 + 10;
    expect(await pay()).toMatchObject(PAID);
    await freeze({ kind: 'tenant' }, { id: 'frz_2' });
    expect(await pay()).toMatchObject({ code: 'frozen' });
    await bed.store.liftFreeze('default', { id: 'frz_2', at: now, by: 'mia' });
    expect(await pay()).toMatchObject(PAID);
  });

  test('who froze, who lifted, and what was refused meanwhile is in the audit trail', async () => {
    await bedWith({});
    await freeze({ kind: 'tool', pattern: 'p*' }, { until: T0 + DAY });
    await pay({ key: 'k' });
    await bed.store.liftFreeze('default', { id: 'frz_1', at: now, by: 'stan', reason: 'over' });
    await bed.store.liftFreeze('default', { id: 'frz_1', at: now, by: 'eve' });
    expect(await bed.store.readAudit('default', { limit: 10 })).toMatchObject([
      {
        kind: 'frozen',
        by: 'mia',
        facts: { freeze: 'frz_1', pattern: 'p*', reason: 'fraud wave' },
      },
      {
        kind: 'effect_refused',
        runId: 'run_1',
        facts: { tool: 'pay', key: 'k', reason: 'frozen' },
      },
      { kind: 'thawed', by: 'stan', facts: { freeze: 'frz_1', reason: 'over' } },
    ]);
  });

  test('what has taken effect before keeps its result', async () => {
    await bedWith({});
    await pay({ key: 'k' });
    await freeze({ kind: 'tenant' });
    expect(await pay({ key: 'k' })).toMatchObject({ kind: 'ok', reused: true });
  });

  test('an earlier start in doubt is not called "nothing happened"', async () => {
    await bedWith({}, { effect: 'write', approval: 'never' });
    const call = callFor({ key: 'k' });
    await bed.store.claim({
      tenant: 'default',
      key: 'k',
      argsDigest: call.digest,
      attempt: 1,
      runId: 'run_1',
      callKey: '1',
      tool: 'pay',
      claimedUntil: T0,
      sameKeyRetry: true,
    });
    await freeze({ kind: 'tenant' });
    expect(await pay({ key: 'k' })).toMatchObject({ kind: 'ambiguous' });
    expect(paid).toEqual([]);
  });

  test('a retry after a start that did nothing is frozen like a first start, and gives its share back', async () => {
    const counted = { identity: ({ order }: { order: string }) => [order] };
    await bedWith(
      { ...counted, limits: { perDay: { count: 1 } } },
      {
        effect: 'write',
        approval: 'never',
        run: () => {
          throw new ToolError('retryable_error', 'busy');
        },
      },
    );
    await expect(pay({ key: 'k' }, 'same')).rejects.toThrow('busy');
    await freeze({ kind: 'tenant' });
    expect(await pay({ key: 'k' }, 'same')).toMatchObject({ kind: 'error', code: 'frozen' });
    expect(await bed.store.getLedgerRow('default', 'k')).toMatchObject({ state: 'void' });
    expect(await bed.store.listEffects('default', { subject: 'O-1' })).toEqual([]);
  });
});

describe('limits across runs', () => {
  const limits = {
    amount: ({ cents }: { cents: number }) => cents,
    customer: ({ who }: { who: string }) => who,
  };

  test('an amount for one customer and day', async () => {
    await bedWith({ limits: { ...limits, perCustomerAndDay: { amount: 250 } } });
    expect(await pay({ run: 'run_1' })).toMatchObject(PAID);
    expect(await pay({ run: 'run_2' })).toMatchObject(PAID);
    expect(await pay({ run: 'run_3' })).toMatchObject(
      over(/an amount of 250 for one customer and day, 200 are used, 100 more were wanted/),
    );
    expect(await pay({ cents: 50 })).toMatchObject(PAID);
    expect(await pay({ who: 'dora' })).toMatchObject(PAID);
    now += DAY;
    expect(await pay({ cents: 250 })).toMatchObject(PAID);
  });

  test('a customer is the same one however Unicode spells the name', async () => {
    await bedWith({
      limits: { perCustomerAndDay: { count: 1 }, customer: ({ who }) => who },
      identity: ({ order }) => [order],
    });
    const [composed, decomposed] = ['zoë', 'zoë'].map((name, form) =>
      name.normalize(form === 0 ? 'NFC' : 'NFD'),
    );
    expect(composed).not.toBe(decomposed);
    expect(await pay({ who: decomposed!, order: decomposed! })).toMatchObject(PAID);
    expect(await pay({ who: composed!, order: 'O-2' })).toMatchObject({ code: 'limit_exceeded' });
    expect(await pay({ who: 'dora', order: composed! })).toMatchObject({ kind: 'repeats' });
    for (const subject of [composed!, decomposed!]) {
      const found = await bed.store.listEffects('default', { subject });
      expect(found).toMatchObject([{ identity: [composed], customer: composed }]);
    }
  });

  test('a number of calls for a day, and in all; what others used is not told', async () => {
    await bedWith({ limits: { perDay: { count: 2 }, inAll: { count: 3 } } });
    await pay();
    await pay();
    expect(await pay()).toMatchObject(over(/limited to 2 calls for one day\. Do not/));
    now += DAY;
    expect(await pay()).toMatchObject(PAID);
    expect(await pay()).toMatchObject(over(/3 calls in all.*person has to decide/));
    now += DAY;
    expect(await pay()).toMatchObject({ code: 'limit_exceeded' });
    expect(paid).toHaveLength(3);
  });

  test('what the tool says has not happened is given back', async () => {
    await bedWith({ limits: { perDay: { count: 1 } } });
    refuse = true;
    expect(await pay()).toMatchObject({ code: 'execution_error' });
    refuse = false;
    expect(await pay()).toMatchObject(PAID);
    expect(await pay()).toMatchObject({ code: 'limit_exceeded' });
  });

  const reconcile = (payment: Payment) => {
    const { grant: _, maxRetries: __, ...input } = inputFor(payment, callFor(payment));
    return attempt(bed.activities({ clock: () => now + DAY }).reconcile_tool, input, effect());
  };

  test.each([
    ['the probe finds nothing', null, 'ok'],
    ['the probe finds it', 'paid', 'error'],
  ])('what is in doubt counts until it is known: %s', async (_what, answer, next) => {
    await bedWith(
      { limits: { perDay: { count: 1 } } },
      { run: () => Promise.reject(new Error('reset')) },
    );
    expect(await pay({ key: 'k' })).toMatchObject({ kind: 'ambiguous' });
    expect(await pay()).toMatchObject({ code: 'limit_exceeded' });
    probe = answer;
    await reconcile({ key: 'k' });
    expect((await pay()).kind).toBe(next === 'ok' ? 'ambiguous' : 'error');
  });

  test.each([
    ['not_happened', 'ambiguous'],
    ['happened', 'error'],
  ] as const)('a person says that it has %s', async (answer, next) => {
    await bedWith(
      { limits: { perDay: { count: 1 } } },
      { run: () => Promise.reject(new Error('reset')) },
    );
    await pay({ key: 'k' });
    const call = callFor({ key: 'k' });
    const input = { v: 1, run: RUN, call, answer, by: ['stan'], events: [] } as const;
    await attempt(bed.activities().record_outcome, input, effect());
    expect((await pay()).kind).toBe(next);
  });

  test('the next attempt after a "not happened" counts once', async () => {
    await bedWith({ limits: { perDay: { count: 2 } } });
    refuse = true;
    await pay({ key: 'k' });
    refuse = false;
    expect(await pay({ key: 'k', attempt: 2 })).toMatchObject(PAID);
    expect(await pay()).toMatchObject(PAID);
    expect(await pay()).toMatchObject({ code: 'limit_exceeded' });
  });

  test('a redelivery takes nothing more', async () => {
    await bedWith({ limits: { perDay: { count: 2 } } });
    for (let times = 0; times < 3; times += 1) await pay({ key: 'k' });
    expect(await pay()).toMatchObject(PAID);
  });

  test.each([
    ['an amount that is no whole number', { amount: () => 1.5 }],
    ['an amount below 0', { amount: () => -1 }],
    ['a function that throws', { amount: () => Number(undefined!['x']) }],
    ['a customer without a name', { customer: () => '' }],
  ])('%s runs nothing', async (_what, broken) => {
    await bedWith({ limits: { ...limits, ...broken, perCustomerAndDay: { amount: 1_000 } } });
    expect(await pay()).toMatchObject({
      kind: 'error',
      code: 'execution_error',
      message: expect.stringMatching(/^Nothing was done: the controls of pay failed/),
    });
    expect(paid).toEqual([]);
  });
});

describe('the same-effect guard', () => {
  const identity = ({ order }: { order: string }) => [order];

  test('a second effect for one identity asks, and says what was done', async () => {
    await bedWith({ identity });
    await pay({ key: 'k1', run: 'run_7' });
    now += 60_000;
    expect(await pay({ key: 'k2' })).toEqual({
      kind: 'repeats',
      repeats: {
        identity: ['O-1'],
        earlier: [
          { key: 'k1', runId: 'run_7', tool: 'pay', at: T0, state: 'done', approvedBy: ['ada'] },
        ],
      },
    });
    expect(await pay({ order: 'O-2' })).toMatchObject(PAID);
    expect(paid).toHaveLength(2);
    expect(await bed.store.getLedgerRow('default', 'k2')).toBeUndefined();
  });

  test('who has seen what was done lets the call pass, but nothing that came meanwhile', async () => {
    await bedWith({ identity });
    await pay({ key: 'k1' });
    expect(await pay({ key: 'k3', repeats: ['k1'] })).toMatchObject(PAID);
    expect(await pay({ key: 'k2', repeats: ['k1'] })).toMatchObject({
      kind: 'repeats',
      repeats: { earlier: [{ key: 'k1' }, { key: 'k3' }] },
    });
    expect(await pay({ key: 'k2', repeats: ['k1', 'k3'] })).toMatchObject(PAID);
  });

  test('one that is in doubt asks as well; one that did not happen does not', async () => {
    await bedWith({ identity });
    refuse = true;
    await pay({ key: 'k1' });
    refuse = false;
    expect(await pay({ key: 'k2' })).toMatchObject(PAID);
    await bed.end();
    await bedWith({ identity }, { run: () => Promise.reject(new Error('reset')) });
    await pay({ key: 'k1' });
    expect(await pay({ key: 'k2' })).toMatchObject({
      repeats: { earlier: [{ key: 'k1', state: 'under_way' }] },
    });
  });

  test('the check of a call tells what was done before, and what is used up of its limits', async () => {
    const limits = { amount: ({ cents }: { cents: number }) => cents, perDay: { amount: 150 } };
    await bedWith({ identity, limits });
    await pay({ key: 'k1', run: 'run_7' });
    const check = (order: string) =>
      attempt(bed.activities({ clock: () => now }).check_call, {
        v: 1,
        run: RUN,
        tool: 'pay',
        toolVersion: '1',
        args: { order, cents: 100, who: 'cora' },
        events: [],
      });
    const used = { amount: 100, count: 1 };
    const standing = { amount: 100, limits: [{ scope: 'perDay', amount: 150, used }] };
    expect((await check('O-1')).check).toEqual({
      ok: true,
      outlook: {
        repeats: { identity: ['O-1'], earlier: [expect.objectContaining({ key: 'k1' })] },
        limits: { ...standing, exceeded: true },
        at: now,
      },
    });
    expect((await check('O-2')).check).not.toHaveProperty('outlook.repeats');
  });

  test('after its window it is another matter, and so is what is about nothing', async () => {
    await bedWith({ identity: { of: identity, windowMs: 1_000 } });
    await pay();
    now += 1_000;
    expect(await pay()).toMatchObject({ kind: 'repeats' });
    now += 1;
    expect(await pay()).toMatchObject(PAID);
    await bed.end();
    await bedWith({ identity: () => undefined });
    await pay();
    expect(await pay()).toMatchObject(PAID);
  });

  test('a limit is looked at first: what may not be done is not asked about', async () => {
    await bedWith({ identity, limits: { perDay: { count: 1 } } });
    await pay();
    expect(await pay()).toMatchObject({ code: 'limit_exceeded' });
  });

  test('what was done can be looked up by what it was about', async () => {
    await bedWith({ identity, limits: { amount: ({ cents }) => cents, inAll: { amount: 500 } } });
    await pay({ key: 'k1', run: 'run_7' });
    expect(await bed.store.listEffects('default', { subject: 'O-1' })).toMatchObject([
      {
        key: 'k1',
        runId: 'run_7',
        tool: 'pay',
        toolVersion: '1',
        state: 'done',
        amount: 100,
        identity: ['O-1'],
        approvedBy: ['ada'],
        reference: 'run_1:1',
      },
    ]);
    expect(await bed.store.listEffects('default', { subject: 'O-2' })).toEqual([]);
    expect(await bed.store.listEffects('other', { subject: 'O-1' })).toEqual([]);
  });
});
