/** A call that is made again with its key (`onLost: 'repeat_with_key'`), and the business controls over it. */
import { z } from 'zod';
import { defineTool, ToolError } from '../../authoring/index.js';
import type { ToolCallRef } from '../../core/state/effect.js';
import { attempt, callOf, executeInput, RUN, startBed, type Bed } from './setup.js';

const T0 = Date.UTC(2030, 0, 15, 12);
const MINUTE = 60_000;
const INPUT = z.object({ cents: z.number() });

/** What the service does: it answers, breaks the connection after it has paid, or declines. */
let service: 'pays' | 'breaks' | 'declines';
let paid: string[];
let now: number;
let bed: Bed;

beforeEach(async () => {
  service = 'pays';
  paid = [];
  now = T0;
  const pay = defineTool({
    name: 'pay',
    version: '1',
    effect: 'financial',
    idempotency: 'keyed',
    onLost: 'repeat_with_key',
    limits: { amount: ({ cents }) => cents, perDay: { amount: 150 } },
    input: INPUT,
    run: (_input, { idempotencyKey }) => {
      if (service === 'declines') throw new ToolError('declined');
      paid.push(idempotencyKey);
      if (service === 'breaks') throw new Error('connection reset');
      return 'paid';
    },
  });
  bed = await startBed({ tools: [pay] });
});
afterEach(() => bed.end());

const activities = () => bed.activities({ clock: () => now });

const callFor = (key: string, cents = 100): ToolCallRef => callOf('pay', { cents }, { key });

/** The second attempt, the first being in doubt. */
const again = (key: string): ToolCallRef => ({ ...callFor(key), attempt: 2, inDoubt: true });

const pay = async (call: ToolCallRef) =>
  (await attempt(activities().execute_tool, executeInput(call))).outcome;

async function lose(key: string): Promise<void> {
  service = 'breaks';
  expect(await pay(callFor(key))).toMatchObject({ kind: 'ambiguous' });
  service = 'pays';
  now += MINUTE;
  const call = callFor(key);
  const input = {
    v: 1,
    run: RUN,
    call,
    inlineBytesMax: 4_096,
    timeoutMs: 500,
    events: [],
  } as const;
  const { finding } = await attempt(activities().reconcile_tool, input);
  expect(finding).toEqual({ kind: 'repeat' });
}

async function sayNo(call: ToolCallRef): Promise<void> {
  const word = { answer: 'not_happened', by: ['maria'], events: [] } as const;
  await attempt(activities().record_outcome, { v: 1, run: RUN, call, ...word });
}

const OVER = { kind: 'error', code: 'limit_exceeded' };

describe('a repetition of a payment that is in doubt', () => {
  test('has the key of the first, and takes what that had reserved, once', async () => {
    await lose('k');
    expect(await pay(callFor('other'))).toMatchObject(OVER);
    expect(await pay(again('k'))).toMatchObject({ kind: 'ok' });
    expect(paid).toEqual(['k', 'k']);
    expect(await pay(callFor('other'))).toMatchObject(OVER);
    expect(await pay(callFor('small', 50))).toMatchObject({ kind: 'ok' });
  });

  test('is not made while its tool is frozen', async () => {
    await lose('k');
    const scope = { kind: 'tenant' } as const;
    await bed.store.setFreeze('default', { id: 'f', scope, by: 'mia', reason: 'fraud', at: T0 });
    expect(await pay(again('k'))).toMatchObject({ kind: 'error', code: 'frozen' });
    expect(paid).toEqual(['k']);
  });

  test('that is declined releases nothing; the word of a person does', async () => {
    await lose('k');
    service = 'declines';
    expect(await pay(again('k'))).toMatchObject({ kind: 'error', message: 'declined' });
    service = 'pays';
    expect(await pay(callFor('other'))).toMatchObject(OVER);
    await sayNo(again('k'));
    expect(await pay(callFor('other'))).toMatchObject({ kind: 'ok' });
  });

  test('that never began leaves the reserve of the first to the word of a person', async () => {
    await lose('k');
    await sayNo(again('k'));
    expect(await pay(callFor('other'))).toMatchObject({ kind: 'ok' });
  });
});
