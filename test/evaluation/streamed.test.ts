/** What a case streams is judged by the agent that works on the run then. */
import type { RunEvent } from '../../core/state/event.js';
import { streamViolations } from '../../evaluation/scripted/streamed.js';
import { createSimulationEngine } from '../../evaluation/simulation/index.js';
import { defineAgent, defineConfig } from '../../index.js';
import { fixtureOf } from './cases.js';

const BILLING = { id: 'h', tool: 'handoff', input: { to: 'billing', summary: 'Go on.' } };

test.each([
  [true, false],
  [false, true],
  [true, true],
])(
  'a run that is handed over streams as the agent at work wants it: %p, then %p',
  async (first, then) => {
    const fixture = fixtureOf({
      case_id: 'handed-over',
      handoffTo: [{ agent: 'billing', run: 'same' }],
      tools: {},
      settings: { includePartialMessages: first },
      model: [{ text: 'A moment.', calls: [BILLING] }],
      agents: {
        billing: {
          instructions: 'Bill.',
          settings: { includePartialMessages: then },
          model: [{ text: 'Billed and done.' }],
        },
      },
    });
    const engine = createSimulationEngine();
    const played = await engine.run(fixture, { seed: 1 });
    await engine.stop();
    const result = { stopReason: 'completed' };
    expect(played).toMatchObject({ kind: 'observed', observed: { result, violations: [] } });
  },
);

describe('a stream that is wrong', () => {
  const PLACE = { tenant: 'default', runId: 'r' };
  const config = defineConfig({
    agents: [
      defineAgent({ name: 'quiet', model: 'scripted/x', instructions: 'Work.' }),
      defineAgent({
        name: 'loud',
        model: 'scripted/x',
        instructions: 'Work.',
        settings: { includePartialMessages: true },
      }),
    ],
  });
  const says = (messageId: string) => ({
    type: 'model_response',
    messageId,
    text: { text: 'Hi.' },
  });
  const handed = { type: 'handoff', to: 'loud', run: {} };
  const told = (agent: string, events: readonly object[], messageId: string) => {
    const entries = [
      { kind: 'attempt_started' },
      { kind: 'delta', delta: { type: 'text', text: 'Hi.' } },
      { kind: 'attempt_ended' },
    ];
    const batch = { fence: 1, messageId, attempt: 1, first: 0, at: 1, entries };
    let pages = 0;
    const readStream = () => Promise.resolve({ batches: pages++ === 0 ? [batch] : [] } as never);
    const whole = [{ type: 'session_init', agent }, ...events] as unknown as RunEvent[];
    return streamViolations({ readStream }, PLACE, { config, events: whole });
  };

  test('is one before the agent that wants it', async () => {
    expect(await told('quiet', [says('m1'), handed], 'm1')).toEqual([UNWANTED]);
    expect(await told('quiet', [handed, says('m1')], 'm1')).toEqual([]);
  });

  test('is one of a run whose agents want none, also of a reply that never ended', async () => {
    expect(await told('quiet', [], 'm1')).toEqual([UNWANTED]);
  });

  test('is one that does not say what the reply says', async () => {
    const [missing] = await told('loud', [says('m1'), says('m2')], 'm1');
    expect(missing).toContain('m2 says "Hi."');
  });
});

const UNWANTED = 'a run streams that nobody wanted to';
