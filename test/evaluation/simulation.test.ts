import type { Observation } from '../../evaluation/engine.js';
import type { Fixture } from '../../evaluation/fixture.js';
import { whyEnded } from '../../evaluation/why-ended.js';
import { createSimulationEngine } from '../../evaluation/simulation/index.js';
import { CASES, fixtureOf } from './cases.js';
import { essenceOf } from './essence.js';

const engine = createSimulationEngine();
afterAll(() => engine.stop());

async function observe(fixture: Fixture): Promise<Observation> {
  const run = await engine.run(fixture, { seed: 1 });
  if (run.kind !== 'observed') throw new Error(JSON.stringify(run));
  return run.observed;
}

describe('the simulation plays a case', () => {
  it.each(CASES.map((one) => [one.what, one] as const))('%s', async (_what, one) => {
    const observed = await observe(one.fixture);
    expect(observed.violations).toEqual([]);
    expect(essenceOf(observed)).toEqual(one.essence);
  });

  it('gives the same observation every time', async () => {
    const { fixture } = CASES.find((one) => one.fixture.caseId === 'lost-before')!;
    const { tookMs: _, ...first } = await observe(fixture);
    const { tookMs: __, ...second } = await observe(fixture);
    expect(second).toEqual(first);
  });

  it('lets no time pass but what the case asks for', async () => {
    const fixture = fixtureOf({
      case_id: 'times',
      tools: { read_order: { results: [{ ok: 1, delayMs: 600 }] } },
      model: [
        { calls: [{ id: 'a', tool: 'read_order', input: { orderId: '1' } }], delayMs: 250 },
        { text: 'done', delayMs: 50 },
      ],
    });
    const { result } = await observe(fixture);
    expect(result?.counters).toMatchObject({ activeMs: 900, waitingMs: 0 });
  });

  it('says of a run that goes on behind its script that the case lacks a reply', async () => {
    const { fixture } = CASES[0]!;
    const short = { ...fixture, model: fixture.model.slice(0, 1) };
    const { events } = await observe(short);
    expect(whyEnded(events)?.stopped).toBe(
      'stopped with needs_human, escalated: `model` of the case has no further reply',
    );
    expect(whyEnded((await observe(fixture)).events)?.stopped).not.toContain('model');
  });

  it('shows what the model was asked', async () => {
    const { requests } = await observe(CASES[0]!.fixture);
    expect(requests.map(({ messages }) => messages.map((one) => one.letter).join(''))).toEqual([
      'U',
      'UAR',
    ]);
    expect(requests[0]).toMatchObject({ model: 'model', tools: ['read_order'], maxTokens: 16_384 });
  });

  it('puts texts of the store back', async () => {
    const text = 'x'.repeat(20_000);
    const fixture = fixtureOf({
      case_id: 'large',
      tools: { read_order: { results: [{ ok: text }] } },
      model: [
        { calls: [{ id: 'a', tool: 'read_order', input: { orderId: 'o'.repeat(5_000) } }] },
        { text },
      ],
    });
    const { result, events, transcript } = await observe(fixture);
    expect(result?.answer).toEqual({ text });
    expect(events.find((event) => event.type === 'tool_finished')).toMatchObject({
      content: { text },
    });
    expect(events.find((event) => event.type === 'tool_started')).toMatchObject({
      args: { orderId: 'o'.repeat(5_000) },
    });
    expect(transcript.at(2)?.results[0]?.text).toBe(text);
  });

  it('refuses what cannot be played yet by its name', async () => {
    const fixture = fixtureOf({ case_id: 'later', settings: { closeOnReturn: true } });
    await expect(engine.run(fixture, { seed: 1 })).resolves.toEqual({
      kind: 'broken',
      message: 'not supported yet: settings.closeOnReturn',
    });
  });

  describe('when a quick read takes down each worker that makes it', () => {
    const poisoned = (quick: boolean) =>
      fixtureOf({
        case_id: 'poisoned',
        tools: { read_order: { results: [{ lost: 'before' }], quick } },
        model: [
          { calls: [{ id: 'a', tool: 'read_order', input: { orderId: '1' } }] },
          { text: 'done' },
        ],
      });
    const TASK_MS = 10_000;

    it('the second worker makes an ordinary call, which ends as any of them', async () => {
      const tries: boolean[] = [];
      const watching = createSimulationEngine({
        onStep: (_, effects) =>
          effects.forEach((one) => {
            if (one.kind === 'execute_tool') tries.push(one.local === true);
          }),
      });
      const finished = async (quick: boolean) => {
        const run = await watching.run(poisoned(quick), { seed: 1 });
        if (run.kind !== 'observed') throw new Error(JSON.stringify(run));
        const { events, result, violations } = run.observed;
        expect(violations).toEqual([]);
        expect(result?.status).toBe('completed');
        const [event, ...others] = events.filter(({ type }) => type === 'tool_finished');
        expect(others).toEqual([]);
        const { stamp, ...end } = event!;
        return { end, at: stamp.at };
      };
      const quick = await finished(true);
      const plain = await finished(false);
      await watching.stop();
      expect(quick.end).toEqual(plain.end);
      expect(quick.at - plain.at).toBe(TASK_MS);
      // What a lost task decided is nowhere.
      expect(tries).toEqual([false, false]);
    });

    it('ends, and says what is waited for, under rules that do not see it', async () => {
      const older = createSimulationEngine({ rules: 19 });
      await expect(older.run(poisoned(true), { seed: 1 })).resolves.toEqual({
        kind: 'broken',
        message: expect.stringMatching(
          /Nothing can ever wake this run; it waits for .*execute_tool/,
        ),
      });
      await older.stop();
    });
  });
});
