/** The page of a run of ten thousand turns opens with its newest events, whatever lies before them. */
import type { EventBody, RunEvent } from '../../core/state/event.js';
import { describeInBrowser } from './support/browser.js';
import { setStage, type Stage } from './support/stage.js';

const LIMIT_MS = 240_000;
const TURNS = { long: 10_000, short: 50 };
const LOADS = 3;
/** The page of the long run may take this many times as long as that of the short one. */
const TIMES_AS_LONG = 6;
const AT_ONCE = 1_000;
const RESULT = { text: 'x'.repeat(500) };

const opening: EventBody = {
  type: 'session_init',
  agent: 'bank',
  taskId: 'task',
  goal: { text: 'Look at all orders.' },
  model: 'scripted/model',
  tools: [],
  versions: {},
};

function turn(number: number): readonly EventBody[] {
  const callId = `c${number}`;
  const args = { orderId: `O-${number}` };
  const call = { callId, tool: 'orders.read', key: `task:${number}` };
  return [
    {
      type: 'model_response',
      call: number + 1,
      messageId: `m${2 * number + 1}`,
      text: { text: `Order ${number} next.` },
      calls: [{ id: callId, tool: 'orders.read', args }],
      stopReason: 'tool_use',
      model: 'scripted/model',
      usage: { input: 1_000, output: 50, cacheRead: 0, cacheWrite: 0 },
      costMicroUsd: 10,
    },
    { type: 'tool_started', ...call, args },
    {
      type: 'tool_finished',
      ...call,
      status: 'ok',
      content: RESULT,
      synthetic: false,
      started: true,
      attempts: 1,
      durationMs: 3,
    },
  ];
}

async function write({ world }: Stage, runId: string, turns: number): Promise<void> {
  const source = { tenant: 'default', runId, execution: runId };
  const bodies = [opening, ...Array.from({ length: turns }, (_, number) => turn(number)).flat()];
  for (let from = 0; from < bodies.length; from += AT_ONCE) {
    const events = bodies.slice(from, from + AT_ONCE).map((body, place): RunEvent => ({
      ...body,
      stamp: {
        seq: from + place,
        runId,
        traceId: 't',
        at: 1_000 * (from + place),
        phase: 'initializing',
        step: from + place,
        turn: Math.max(0, Math.floor((from + place - 1) / 3)),
      },
    }));
    await world.store.appendEvents(source, events);
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

describeInBrowser('the page of a run of ten thousand turns', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage({ worker: false });
    await write(stage, 'short', TURNS.short);
    await write(stage, 'long', TURNS.long);
  }, LIMIT_MS);
  afterAll(() => stage?.stop());

  /** From opening the address to its newest turn, of somebody whose browser has the page. */
  async function opens(runId: keyof typeof TURNS): Promise<number> {
    const { page, context } = await stage.open('rita', { path: `/runs/${runId}` });
    const newest = page.getByText(`Turn ${TURNS[runId]}`, { exact: true });
    await newest.waitFor();
    const times: number[] = [];
    for (let load = 0; load < LOADS; load += 1) {
      const begun = performance.now();
      await page.reload();
      await newest.waitFor();
      times.push(performance.now() - begun);
    }
    await context.close();
    return median(times);
  }

  test(
    'it opens in little more than the time of one of fifty turns, scrolls, and shows all when asked',
    async () => {
      const short = await opens('short');
      const long = await opens('long');
      console.log(`opened: ${Math.round(long)} ms of 10,000 turns, ${Math.round(short)} ms of 50`);
      const { page, faults, context } = await stage.open('rita', { path: '/runs/long' });
      await page.getByText('Turn 10000', { exact: true }).waitFor();
      const frames = await page.evaluate<{ longest: number; count: number }>(scrolled);
      console.log(
        `scrolled: ${Math.round(frames.longest)} ms the longest frame of ${frames.count}`,
      );
      await page.getByRole('tab', { name: 'Events' }).click();
      await page.getByText('Show older ones (100)').waitFor();
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByText('Only events from number').waitFor({ state: 'detached' });
      await page.getByRole('tab', { name: 'Events' }).click();
      await page.getByText('Show older ones (29801)').waitFor();
      expect(faults).toEqual([]);
      await context.close();
      expect(long).toBeLessThan(TIMES_AS_LONG * short);
    },
    LIMIT_MS,
  );
});

/** In the page: through all of it, a screen for each frame. */
const scrolled = `(async () => {
  const frames = [];
  let before = performance.now();
  for (let at = 0; at < document.documentElement.scrollHeight; at += innerHeight) {
    scrollTo(0, at);
    await new Promise(requestAnimationFrame);
    frames.push(performance.now() - before);
    before = performance.now();
  }
  return { longest: Math.max(...frames), count: frames.length };
})()`;
