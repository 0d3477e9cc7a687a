/**
 * Ten thousand questions beside three hundred live runs: the first screen, moving on, and searching. Some of the
 * runs are real ones on a real server, which never come to rest; the others are rows that go on being written.
 */
import type { RunHandle } from '../../client/runs/run-handle.js';
import type { EventBody, RunEvent } from '../../core/state/event.js';
import { call, until } from '../integration/support/world.js';
import { WHOLE } from '../seed.js';
import { describeInBrowser, screenshot } from './support/browser.js';
import { setStage, type Stage } from './support/stage.js';

const LIMIT_MS = 240_000;
const QUESTIONS = 10_000;
const LIVE_RUNS = 300;
/** Of them real; the machine of a test has two cores. HOLDFAST_WHOLE=1: more. */
const REAL_RUNS = WHOLE ? 20 : 6;
const ROW_RUNS = LIVE_RUNS - REAL_RUNS;
/** Between two events of what the model of a real one says: a turn in about four seconds. */
const EVENT_MS = 400;
const OF_ONE_RUN = 100;
/** Live runs are the newest. */
const LATER = 1_000_000;
const LOADS = 5;
/** To the end of the list as far as it is shown. */
const MOVES_MAX = 200;
/** The first screen of ten thousand may take this many times as long as that of none. */
const TIMES_AS_LONG = 3;

type Store = Stage['world']['store'];

const stamped = (runId: string, bodies: readonly EventBody[], at = 0): readonly RunEvent[] =>
  bodies.map((body, seq) => ({
    ...body,
    stamp: { seq, runId, traceId: 't', at: at + seq, phase: 'initializing', step: 0, turn: 0 },
  }));

const opening = (task: string): EventBody => ({
  type: 'session_init',
  agent: 'bank',
  taskId: task,
  goal: { text: `Serve customer ${task}.` },
  model: 'scripted/model',
  tools: [],
  versions: {},
});

const question = (runId: string, number: number): EventBody => ({
  type: 'approval_requested',
  askId: `${runId}:${number}`,
  kind: 'approval',
  callId: `call-${number}`,
  tool: 'bank.transfer',
  toolVersion: '1',
  args: {
    recipient: `customer-${runId}-${number}@example.com`,
    amountCents: 100 + number,
    currency: 'EUR',
    note: 'n'.repeat(300),
  },
  argsHash: 'a'.repeat(64),
  roles: ['refund-manager'],
  quorum: 1,
  policyVersion: '1',
  openedAt: number,
  expiresAt: 4_000_000_000_000,
});

async function fillStore(store: Store): Promise<void> {
  for (let run = 0; run < QUESTIONS / OF_ONE_RUN; run += 1) {
    const runId = `parked-${run}`;
    const asks = Array.from({ length: OF_ONE_RUN }, (_, place) =>
      question(runId, run * OF_ONE_RUN + place),
    );
    const source = { tenant: 'default', runId, execution: `e-${run}` };
    await store.appendEvents(source, stamped(runId, [opening(runId), ...asks]));
  }
  for (let run = 0; run < ROW_RUNS; run += 1) {
    const runId = `live-${run}`;
    await store.appendEvents(
      { tenant: 'default', runId, execution: runId },
      stamped(runId, [opening(runId)], LATER + run),
    );
  }
}

/** Live runs write while people look. */
function keepWriting(store: Store): () => Promise<void> {
  let isOver = false;
  const write = async (): Promise<void> => {
    for (let round = 1; !isOver; round += 1) {
      const runId = `live-${round % ROW_RUNS}`;
      const seq = 1 + Math.floor(round / ROW_RUNS);
      const [event] = stamped(runId, [
        { type: 'warning', code: 'late_input', message: `round ${round}` },
      ]);
      if (event === undefined) return;
      const stamp = { ...event.stamp, seq };
      await store.appendEvents({ tenant: 'default', runId, execution: runId }, [
        { ...event, stamp },
      ]);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const written = write();
  return async () => {
    isOver = true;
    await written;
  };
}

/** Runs that read one mail after the other: each turn is a model call and a tool call, as it would be. */
async function startReal({ world }: Stage): Promise<readonly RunHandle[]> {
  const begin = (_: unknown, place: number) => {
    let read = 0;
    // The same call again and again would be stopped as no progress.
    world.script(`real-${place}`, () => ({
      ...call('mail.read', { folder: `inbox/${(read += 1)}` }, 'Nothing new yet. I will go on.'),
      chunkDelayMs: EVENT_MS,
    }));
    return world.client.start({
      runId: `real-${place}`,
      agent: 'bank',
      task: 'Watch the mail.',
      budget: { maxTurns: 10_000, maxToolCalls: 10_000 },
    });
  };
  return Promise.all(Array.from({ length: REAL_RUNS }, begin));
}

/** How far each of them is; they must be at work. */
async function turnsOf(real: readonly RunHandle[]): Promise<readonly number[]> {
  const views = await Promise.all(
    real.map((run) => until('what its worker says', () => run.state())),
  );
  expect(new Set(views.map(({ status }) => status))).toEqual(new Set(['running']));
  return views.map(({ counters }) => counters.turnCount);
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

describeInBrowser('an inbox of ten thousand', () => {
  let stage: Stage;
  let real: readonly RunHandle[];
  beforeAll(async () => {
    stage = await setStage();
    await fillStore(stage.world.store);
    real = await startReal(stage);
  }, LIMIT_MS);
  afterAll(() => stage?.stop());
  let stopWriting: (() => Promise<void>) | undefined;
  beforeEach(() => {
    stopWriting = keepWriting(stage.world.store);
  });
  afterEach(() => stopWriting?.());

  /** From opening the address to the first screen, of somebody whose browser has the page. */
  async function firstScreen(as: 'rita' | 'bob', ready: string): Promise<number> {
    const { page, context } = await stage.open(as);
    await page.getByText(ready).first().waitFor();
    const times: number[] = [];
    for (let load = 0; load < LOADS; load += 1) {
      const begun = performance.now();
      await page.goto(`${stage.desk().url}/`);
      await page.reload();
      await page.getByText(ready).first().waitFor();
      times.push(performance.now() - begun);
    }
    await context.close();
    return median(times);
  }

  test(
    'the first screen of ten thousand takes little longer than that of none',
    async () => {
      const full = await firstScreen('rita', '10,000 waiting');
      // Of another tenant, who has nothing.
      const empty = await firstScreen('bob', 'Nothing waits.');
      console.log(
        `first screen: ${Math.round(full)} ms of ${QUESTIONS} questions, ${Math.round(empty)} ms of none`,
      );
      expect(full).toBeLessThan(TIMES_AS_LONG * empty);
    },
    LIMIT_MS,
  );

  test(
    'any of them is found by a search, and all of them by moving on',
    async () => {
      const before = await turnsOf(real);
      const { page, faults, context } = await stage.open('rita');
      await page.getByText('10,000 waiting').waitFor();
      await screenshot(page, 'inbox-many');
      const begun = performance.now();
      await page.getByRole('searchbox').fill('customer-parked-77-7742');
      await page.getByText('1 found').waitFor();
      console.log(`search: ${Math.round(performance.now() - begun)} ms from typing to the result`);
      await page.getByRole('link', { name: /customer-parked-77-7742/ }).waitFor();
      await page.getByRole('searchbox').fill('bank.transfer 100% _');
      await page.getByText('Nothing found').waitFor();
      await page.getByRole('searchbox').fill('');
      await page.getByText('10,000 waiting').waitFor();
      const rows = page.locator('.rows li');
      for (let move = 0; move < MOVES_MAX && (await rows.count()) < 400; move += 1) {
        await page.locator('.list-end').scrollIntoViewIfNeeded();
        await page.waitForTimeout(50);
      }
      expect(await rows.count()).toBeGreaterThanOrEqual(400);
      const names = await rows.locator('.row-main').allTextContents();
      expect(new Set(names).size).toBe(names.length);
      await page.goto(`${stage.desk().url}/runs`);
      await page.getByRole('link', { name: 'live-279' }).waitFor();
      await page.getByRole('link', { name: 'real-5', exact: true }).click();
      await page.getByText('Nothing new yet.').first().waitFor();
      const turns = page.locator('.turn');
      // It goes on while somebody looks at it.
      await turns.nth(await turns.count()).waitFor();
      expect(faults).toEqual([]);
      const further = (await turnsOf(real)).map((reached, place) => reached - (before[place] ?? 0));
      console.log(`${REAL_RUNS} real runs: at least ${Math.min(...further)} turns each meanwhile`);
      expect(Math.min(...further)).toBeGreaterThanOrEqual(1);
      await context.close();
    },
    LIMIT_MS,
  );
});
