/** Moments that are fetched before somebody looks at them. */
import { setImmediate as soon } from 'node:timers/promises';
import { ApiProblem } from '../../../console/page/data/api.js';
import type { Moment, StepsIndex } from '../../../console/page/data/api-types.js';
import { momentsAhead, type MomentAsked } from '../../../console/page/steps/moments-ahead.js';

const STEPS = 1_000;
const UNENDING = new AbortController().signal;

interface Asked {
  readonly step: number;
  readonly ahead: boolean;
  readonly signal: AbortSignal;
  answer(moment: Moment): void;
  fail(error: unknown): void;
}

const moment = (step: number, text = ''): Moment => ({ step, text }) as unknown as Moment;

function setup(source: StepsIndex['source'] = 'run') {
  const asked: Asked[] = [];
  const index = { runId: 'r', source, steps: Array.from({ length: STEPS }) };
  const ask = ({ step, ahead: isAhead }: MomentAsked, signal: AbortSignal) =>
    new Promise<Moment>((answered, fail) => {
      signal.addEventListener('abort', () => fail(signal.reason as Error));
      asked.push({ step, ahead: isAhead, signal, answer: answered, fail });
    });
  const ahead = momentsAhead(index as unknown as StepsIndex, ask);
  const answer = async (text?: string): Promise<void> => {
    const { step, answer: give } = asked.at(-1)!;
    give(moment(step, text));
    await soon();
  };
  return { ahead, asked, answer, steps: () => asked.map(({ step }) => step) };
}

const refusal = (status: number) => new ApiProblem({ status, code: 'c', detail: 'd' });

test('those that are likely next come one after the other, and are there when they are looked at', async () => {
  const { ahead, asked, answer, steps } = setup();
  void ahead.fetch(moment(5), [6, 4]);
  await soon();
  expect(asked).toMatchObject([{ step: 6, ahead: true }]);
  expect(ahead.at(6)).toBeUndefined();
  await answer();
  await answer();
  expect([steps(), ahead.at(6), ahead.at(4), ahead.at(5)]).toEqual([
    [6, 4],
    ...[6, 4, 5].map((step) => moment(step)),
  ]);
});

test('what is on the way is waited for by whoever comes to it, and ends where somebody goes elsewhere', async () => {
  const { ahead, asked, answer } = setup();
  void ahead.fetch(moment(5), [6, 4]);
  await soon();
  const read = ahead.read(6, UNENDING);
  await answer();
  expect(asked).toHaveLength(1);
  expect(await read).toEqual(moment(6));
  void ahead.fetch(moment(6), [7, 5]);
  await soon();
  void ahead.read(900, UNENDING);
  await soon();
  expect(asked.slice(1)).toMatchObject([
    { step: 7, ahead: true, signal: { aborted: true } },
    { step: 900, ahead: false },
  ]);
  void ahead.fetch(moment(900), [901]);
  await soon();
  ahead.stop();
  await soon();
  expect(asked.slice(3)).toMatchObject([{ step: 901, signal: { aborted: true } }]);
});

test('a step with an open question is asked for when it is shown, and ahead only once', async () => {
  const { ahead, asked } = setup();
  void ahead.fetch(moment(5), [6]);
  await soon();
  const read = ahead.read(6, UNENDING);
  asked[0]!.fail(refusal(409));
  await soon();
  asked[1]!.answer(moment(6));
  expect(await read).toEqual(moment(6));
  void ahead.fetch(moment(5), [6]);
  await soon();
  expect(asked.map(({ ahead: isAhead }) => isAhead)).toEqual([true, false]);
});

test.each([400, 403, 429, 500, 0])(
  'a desk that answers %d is asked nothing ahead again',
  async (status) => {
    const { ahead, asked, steps } = setup();
    void ahead.fetch(moment(5), [6, 4]);
    await soon();
    asked[0]!.fail(refusal(status));
    await soon();
    void ahead.fetch(moment(7), [8]);
    await soon();
    expect(steps()).toEqual([6]);
  },
);

test('the last step is kept of a file, and of a run that may go on it is not', async () => {
  for (const [source, known] of [
    ['run', undefined],
    ['file', moment(STEPS)],
  ] as const) {
    const { ahead, steps } = setup(source);
    await ahead.fetch(moment(STEPS), []);
    expect(ahead.at(STEPS)).toEqual(known);
    ahead.stop();
    void ahead.fetch(moment(STEPS - 1), [STEPS]);
    await soon();
    expect(steps()).toEqual([]);
  }
});

test('what is kept is bounded: the moments looked at last, and none that is large', async () => {
  const { ahead } = setup();
  for (let step = 1; step <= 19; step += 1) await ahead.fetch(moment(step), []);
  await ahead.fetch(ahead.at(8)!, []);
  await ahead.fetch(moment(20), []);
  await ahead.fetch(moment(21, 'x'.repeat(400_000)), []);
  const kept = Array.from({ length: 21 }, (_, place) => place + 1).filter(ahead.at);
  expect(kept).toEqual([8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
});

test('what nobody looks at is fetched a hundred and twenty times a minute, what somebody looks at always', async () => {
  const { ahead, asked, answer } = setup();
  const go = async (from: number, likely: number): Promise<void> => {
    const before = asked.length;
    void ahead.fetch(moment(from), [likely]);
    await soon();
    if (asked.length > before) await answer();
  };
  for (let step = 1; step <= 200; step += 1) await go(step, step + 1);
  expect(asked).toHaveLength(200);
  for (let step = 1; step <= 200; step += 1) await go(300, 301 + step);
  expect(asked).toHaveLength(200 + 119);
});
