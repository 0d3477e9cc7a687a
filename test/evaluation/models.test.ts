/** Cases about models that fail, are changed, paused, or get a last word: sections D, F, H, S159 and S160. */
import type { Observation } from '../../evaluation/engine.js';
import { createSimulationEngine } from '../../evaluation/simulation/index.js';
import { fixtureOf } from './cases.js';
import { essenceOf } from './essence.js';

const engine = createSimulationEngine();
afterAll(() => engine.stop());

const READ = { calls: [{ id: 'a', tool: 'read_order', input: { orderId: '1' } }] };
const OVERLOADED = { error: { status: 529 } };

async function play(written: Parameters<typeof fixtureOf>[0]): Promise<Observation> {
  const run = await engine.run(fixtureOf(written), { seed: 1 });
  if (run.kind !== 'observed') throw new Error(JSON.stringify(run));
  expect(run.observed.violations).toEqual([]);
  return run.observed;
}

function eventsOf({ events }: Observation): readonly string[] {
  return events.map((event) => event.type);
}

describe('a model that fails', () => {
  test('S96: three server errors are tried again', async () => {
    const failing = { error: { status: 503 } };
    const seen = await play({
      case_id: 's96',
      model: [failing, failing, failing, { text: 'done' }],
    });
    expect(seen.result).toMatchObject({ completed: true, counters: { modelCalls: 1 } });
    expect(eventsOf(seen).filter((type) => type === 'retry')).toHaveLength(3);
    expect(seen.requests).toHaveLength(1);
  });

  test('a fourth server error is the last', async () => {
    const failing = { error: { status: 500 } };
    const seen = await play({
      case_id: 's97',
      model: [failing, failing, failing, failing, { text: 'late' }],
    });
    expect(essenceOf(seen).stop).toBe('failed model_error:ServerError');
  });

  test('S98: a key that is refused is asked once', async () => {
    const seen = await play({
      case_id: 's98',
      model: [{ error: { status: 401 } }, { text: 'late' }],
    });
    expect(essenceOf(seen).stop).toBe('failed model_error:AuthError');
    expect(eventsOf(seen)).not.toContain('retry');
  });

  test('S99: a network timeout is tried again', async () => {
    const model = [{ error: { kind: 'network_timeout' } }, { text: 'done' }];
    expect((await play({ case_id: 's99', model })).result?.completed).toBe(true);
  });

  test('without a fallback and a target of tokens, said as none, a case plays as one that names neither', async () => {
    const settings = { fallbackModel: null, tokenBudget: null };
    const model = [OVERLOADED, { text: 'done' }];
    const said = await play({ case_id: 'none', settings, model });
    expect(eventsOf(said)).toContain('retry');
    expect(eventsOf(said)).toEqual(eventsOf(await play({ case_id: 'none', model })));
  });

  test('S107: the fallback answers; what had arrived is gone from everything', async () => {
    const seen = await play({
      case_id: 's107',
      settings: { fallbackModel: 'm2' },
      budget: { maxRetriesPerModelCall: 1 },
      model: [
        READ,
        { ...OVERLOADED, after: { text: 'Half of' } },
        OVERLOADED,
        { text: 'The order shipped.' },
      ],
    });
    expect(essenceOf(seen)).toMatchObject({ stop: 'completed final_answer', history: 'U A R A' });
    expect(seen.requests.map(({ model }) => model)).toEqual(['model', 'model', 'm2']);
    expect(JSON.stringify([seen.requests.at(-1), seen.transcript])).not.toContain('Half of');
    expect(eventsOf(seen)).toContain('tombstone');
    expect(seen.result?.counters.fallbacks).toBe(1);
  });
});

test('S65: the last word comes without tools', async () => {
  const seen = await play({
    case_id: 's65',
    settings: { wrapUpTurn: true },
    budget: { maxToolCalls: 1 },
    model: [READ, { text: 'summary' }],
  });
  expect(essenceOf(seen)).toMatchObject({ stop: 'max_tool_calls', history: 'U A R A' });
  expect(seen.result?.partialOutput).toEqual({ text: 'summary' });
  expect(seen.requests.map(({ tools }) => tools)).toEqual([['read_order'], []]);
});

describe('control', () => {
  const after = { modelCall: 1, at: 'after' };

  test('S159: another model, its prices, and none of the thinking of the first', async () => {
    const seen = await play({
      case_id: 's159',
      settings: { pricing: { '*': { input: 1, output: 1 }, m2: { input: 10, output: 10 } } },
      model: [{ ...READ, thinking: 'Let me see' }, { text: 'done' }],
      during: [{ on: after, do: { setModel: 'm2' } }],
    });
    expect(seen.requests.map(({ model }) => model)).toEqual(['model', 'm2']);
    expect(seen.result?.costMicroUsd).toBe(1_100 + 11_000);
  });

  test('a model that is not known is refused with a warning', async () => {
    const seen = await play({
      case_id: 'unknown-model',
      settings: { pricing: { model: { input: 1, output: 1 } } },
      model: [READ, { text: 'done' }],
      during: [{ on: after, do: { setModel: 'nobody' } }],
    });
    expect(seen.result?.completed).toBe(true);
    expect(seen.events).toContainEqual(
      expect.objectContaining({ type: 'warning', message: expect.stringContaining('nobody') }),
    );
  });

  test('an interrupt that pauses, and the message that goes on', async () => {
    const seen = await play({
      case_id: 'pause',
      settings: { interruptMode: 'pause' },
      model: [{ text: 'late', chunks: 4 }, { text: 'done' }],
      during: [
        { on: { modelCall: 1, at: 'streaming' }, do: { interrupt: true } },
        { on: { event: 'input_request' }, do: { userMessage: 'go on' } },
      ],
    });
    expect(essenceOf(seen).stop).toBe('completed final_answer');
  });

  test('wall time goes on while a person is asked', async () => {
    const seen = await play({
      case_id: 'wall',
      settings: { timeoutCounts: 'wall' },
      budget: { timeoutMs: 60_000 },
      model: [
        { calls: [{ id: 'a', tool: 'issue_refund', input: { order: 'O', amount: 5 } }] },
        { text: 'late' },
      ],
    });
    expect(essenceOf(seen).stop).toBe('timeout');
  });
});
