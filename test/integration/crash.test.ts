import type { RunHandle } from '../../client/runs/run-handle.js';
import type { Phase } from './support/service.js';
import {
  call,
  ofType,
  openAsk,
  pay,
  read,
  say,
  startWorld,
  until,
  type Ended,
  type StartIn,
  type World,
} from './support/world.js';

/**
 * All runs share three worker processes: the first is killed when every run is at its point, the second
 * while the outcome of what was under way is being found out, the third finishes.
 */
let world: World;
const runs = new Map<string, RunHandle>();
const settings = { heartbeatMs: { repeatable: 2_000, single: 2_000 } } as const;

interface Case {
  readonly runId: string;
  readonly at?: Phase;
  readonly start: Omit<StartIn, 'runId'>;
}

const pays = (tool: string): Omit<StartIn, 'runId'> => ({ replies: [pay(tool), say('Finished.')] });

const CASES: readonly Case[] = [
  {
    runId: 'model',
    start: {
      replies: [
        [
          { ...read(), text: 'Let me see', chunks: 4, stallAfterChunks: 2, stallWith: 'pings' },
          read(),
        ],
        say('Finished.'),
      ],
    },
  },
  { runId: 'read', at: 'read', start: { replies: [read(), say('Finished.')] } },
  { runId: 'probed-before', at: 'before', start: pays('pay.probed') },
  { runId: 'probed-after', at: 'after', start: pays('pay.probed') },
  { runId: 'blind-happened', at: 'after', start: pays('pay.blind') },
  { runId: 'blind-not-happened', at: 'before', start: pays('pay.blind') },
  { runId: 'blind-stop', at: 'before', start: pays('pay.blind') },
  {
    runId: 'blind-observe',
    at: 'after',
    start: { ...pays('pay.blind'), settings: { onOutcomeUnknown: 'observe' } },
  },
  { runId: 'keyed-payment', at: 'after', start: pays('pay.keyed') },
  {
    runId: 'keyed-write',
    at: 'after',
    start: { replies: [call('notes.write', { item: 'lamp' }), say('Finished.')] },
  },
];

async function startCases(): Promise<void> {
  const points = CASES.flatMap(({ runId, at }) => (at ? [world.service.hold(runId, at)] : []));
  // Its first payment is long over when the second is under way.
  const earlier = { replies: [pay('pay.probed', 100), pay('pay.probed', 200), say('Finished.')] };
  const starts = CASES.map(({ runId, start }) =>
    world.start({ runId, ...start, settings: { ...settings, ...start.settings } }),
  );
  for (const run of await Promise.all(starts)) runs.set(run.runId, run);
  runs.set('earlier', await world.start({ runId: 'earlier', ...earlier, settings }));
  await until('the first payment', () => world.service.visits('earlier', 'after')[0]);
  await Promise.all(points);
  await until('the model call', () => world.requests('model')[0]);
  await until(
    'the end of an untouched run',
    async () => (await world.store.getRun('default', 'earlier'))?.result,
  );
}

beforeAll(async () => {
  world = await startWorld({ worker: false });
  const first = await world.spawn();
  await startCases();
  await first.kill();
  const second = await world.spawn();
  await until('somebody finding out', async () => {
    const { activities } = await runs.get('probed-before')!.execution();
    return activities.find(({ type }) => type === 'reconcile_tool');
  });
  await second.kill();
  await world.spawn();
});
afterAll(() => world.stop());

const ended = (runId: string): Promise<Ended> => world.ended(runs.get(runId)!);
const withStep = (step: string, more: object = {}): unknown =>
  expect.arrayContaining([expect.objectContaining({ step, ...more })]);
const effects = (runId: string) => world.service.visits(runId, 'effect').map(({ key }) => key);

/** One attempt was lost with the first worker; the second may have died with one before it did anything. */
function expectReadOrWrittenAgain(events: Ended['events']): void {
  const [finished, ...more] = ofType(events, 'tool_finished');
  expect([finished?.status, more]).toEqual(['ok', []]);
  expect([2, 3]).toContain(finished?.attempts);
}

/** The messages of a request, without the marks that tell the vendor what to keep in its cache. */
function messagesIn(body: string): readonly unknown[] {
  const unmarked = (key: string, value: unknown): unknown =>
    key === 'cache_control' ? undefined : value;
  return (JSON.parse(body, unmarked) as { readonly messages: readonly unknown[] }).messages;
}

describe('a worker killed', () => {
  test.concurrent(
    'during a model call: the model is asked again, and the lost request is paid for',
    async () => {
      const { result, events } = await ended('model');
      expect(result).toMatchObject({ completed: true, counters: { modelCalls: 2, toolCalls: 1 } });
      expect(world.requests('model').filter(({ assistantMessages: n }) => n === 0)).toHaveLength(2);
      const [first, second] = ofType(events, 'model_response');
      // Nobody knows what the lost request was billed: its bound is.
      expect(first!.costMicroUsd).toBeGreaterThan(50 * second!.costMicroUsd);
      expect(result.costMicroUsd).toBe(first!.costMicroUsd + second!.costMicroUsd);
    },
  );

  test.concurrent('during a read: it is read again', async () => {
    const { result, events } = await ended('read');
    expect(result.completed).toBe(true);
    expect(world.service.visits('read', 'read')).toHaveLength(2);
    expect(ofType(events, 'tool_started')).toHaveLength(1);
    expectReadOrWrittenAgain(events);
  });

  test.concurrent('before a payment that can be probed: it is made after all, once', async () => {
    const { result, events } = await ended('probed-before');
    expect(result.completed).toBe(true);
    expect(effects('probed-before')).toEqual(['probed-before:0']);
    expect(world.service.visits('probed-before', 'before')).toHaveLength(2);
    expect(ofType(events, 'tool_finished')).toMatchObject([
      { status: 'ok', content: { text: 'done under probed-before:0' } },
    ]);
  });

  test.concurrent(
    'after a payment that can be probed: it is found, and not made again',
    async () => {
      const { result, events } = await ended('probed-after');
      expect(result.completed).toBe(true);
      expect(effects('probed-after')).toEqual(['probed-after:0']);
      expect(world.service.visits('probed-after', 'before')).toHaveLength(1);
      expect(ofType(events, 'tool_finished')).toMatchObject([
        { status: 'ok', content: { text: 'seen under probed-after:0' } },
      ]);
      const [reconciled, ...more] = ofType(events, 'tool_reconciled');
      expect([reconciled?.key, reconciled?.finding, more]).toEqual([
        'probed-after:0',
        'happened',
        [],
      ]);
      const durationMs = expect.any(Number);
      const lost = { step: 'attempt_lost', attempt: 1, claimed: true, durationMs };
      // The second worker may have died after it had written down what the probe said.
      expect([
        [
          lost,
          { step: 'claim_burned', durationMs },
          { step: 'probe_told', answer: 'happened', durationMs },
        ],
        [lost, { step: 'ledger_told', answer: 'happened', durationMs }],
      ]).toContainEqual(reconciled?.steps);
    },
  );

  test.concurrent(
    'after a payment that nobody can look up: a person says that it happened',
    async () => {
      const run = runs.get('blind-happened')!;
      const ask = await openAsk(run);
      expect(ask).toMatchObject({ kind: 'outcome', tool: 'pay.blind' });
      expect(ask.question).toContain('blind-happened:0');
      expect((await run.state()).status).toBe('awaiting_outcome');
      const answer = { kind: 'happened', value: { receipt: 17 } } as const;
      await run.answer(ask.askId, answer, { by: 'maria' });
      const { result, events } = await ended('blind-happened');
      expect(result.completed).toBe(true);
      expect(effects('blind-happened')).toEqual(['blind-happened:0']);
      const [found, recorded] = ofType(events, 'tool_reconciled');
      expect(found?.steps.map(({ step }) => step)).toEqual([
        'attempt_lost',
        'claim_burned',
        'nobody_told',
      ]);
      expect(recorded?.steps[0]).toEqual({
        step: 'person_told',
        answer: 'happened',
        by: ['maria'],
      });
      expect(ofType(events, 'tool_finished')).toMatchObject([
        { status: 'ok', content: { text: '{"receipt":17}' } },
      ]);
      expect(world.requests('blind-happened').at(-1)?.body).toContain('receipt');
    },
  );

  test.concurrent(
    'before a payment that nobody can look up: a person says no, and it is made, once',
    async () => {
      const run = runs.get('blind-not-happened')!;
      const ask = await openAsk(run);
      expect(effects('blind-not-happened')).toEqual([]);
      await run.answer(ask.askId, { kind: 'not_happened' }, { by: 'maria' });
      const { result } = await ended('blind-not-happened');
      expect(result).toMatchObject({ completed: true, counters: { toolCalls: 1 } });
      expect(effects('blind-not-happened')).toEqual(['blind-not-happened:0']);
      const rows = await world.store.listLedger('default', { runId: 'blind-not-happened' });
      expect(rows).toMatchObject([{ attempt: 2, state: 'recorded', source: 'tool' }]);
    },
  );

  test.concurrent(
    'during a payment that nobody can look up: a person ends the run, nothing is repeated',
    async () => {
      const run = runs.get('blind-stop')!;
      const ask = await openAsk(run);
      await run.answer(ask.askId, { kind: 'stop' }, { by: 'maria' });
      const { result, events } = await ended('blind-stop');
      expect(result).toMatchObject({
        status: 'stopped',
        stopReason: 'needs_human',
        detail: 'outcome_unknown',
        nextSafeAction: expect.stringContaining('blind-stop:0'),
      });
      expect(ofType(events, 'tool_finished')).toMatchObject([{ code: 'outcome_unknown' }]);
      expect(world.service.visits('blind-stop', 'before')).toHaveLength(1);
    },
  );

  test.concurrent(
    'during a payment that nobody can look up, when nobody is to be asked: the model is told',
    async () => {
      const { result, events } = await ended('blind-observe');
      expect(result.completed).toBe(true);
      expect(ofType(events, 'tool_finished')).toMatchObject([
        { code: 'outcome_unknown', content: { text: expect.stringContaining('blind-observe:0') } },
      ]);
      expect(effects('blind-observe')).toEqual(['blind-observe:0']);
    },
  );

  test.concurrent(
    'after a payment whose service knows its key: it is made again with it, and nobody is asked',
    async () => {
      const { result, events } = await ended('keyed-payment');
      expect(result).toMatchObject({ completed: true, counters: { toolCalls: 1 } });
      expect(effects('keyed-payment')).toEqual(['keyed-payment:0', 'keyed-payment:0']);
      expect(ofType(events, 'input_request')).toEqual([]);
      const [found, ...more] = ofType(events, 'tool_reconciled');
      expect(found).toMatchObject({ finding: 'repeat', steps: withStep('repetition_due') });
      // The second worker may have died with the repetition in hand, before it began with it.
      const unbegun = { finding: 'repeat', steps: withStep('attempt_lost', { claimed: false }) };
      expect(more.length).toBeLessThan(2);
      expect(more).toMatchObject(more.map(() => unbegun));
      const attempt = 2 + more.length;
      expect(ofType(events, 'tool_finished')).toMatchObject([{ status: 'ok', attempts: attempt }]);
      const rows = await world.store.listLedger('default', { runId: 'keyed-payment' });
      expect(rows).toMatchObject([{ attempt, state: 'recorded', source: 'tool' }]);
    },
  );

  test.concurrent('after a keyed write: it is called again with the same key', async () => {
    const { result, events } = await ended('keyed-write');
    expect(result).toMatchObject({ completed: true, counters: { toolCalls: 1 } });
    expect(effects('keyed-write')).toEqual(['keyed-write:0', 'keyed-write:0']);
    expectReadOrWrittenAgain(events);
    const rows = await world.store.listLedger('default', { runId: 'keyed-write' });
    expect(rows).toMatchObject([{ key: 'keyed-write:0', state: 'recorded', source: 'tool' }]);
  });

  test.concurrent('or not: what the model is shown only ever grows', async () => {
    for (const { runId } of CASES.filter(({ start }) => start.settings === undefined)) {
      if (runId.startsWith('blind')) continue;
      await ended(runId);
      const shown = world.requests(runId).map(({ body }) => messagesIn(body ?? '{}'));
      expect(shown.length).toBeGreaterThan(1);
      for (const [index, messages] of shown.slice(1).entries()) {
        const before = shown[index]!;
        expect(messages.slice(0, before.length)).toEqual(before);
      }
    }
  });

  test.concurrent('changes nothing for a run that had ended before', async () => {
    const { result } = await ended('earlier');
    expect(result.completed).toBe(true);
    expect(effects('earlier')).toEqual(['earlier:0', 'earlier:1']);
  });
});
