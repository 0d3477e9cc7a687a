/** What a person is told of their answer to a clarifying question. */
import { heardAnswer, type GivenAnswer } from '../../../client/decide/heard-answer.js';
import type { ReadingStore } from '../../../client/link.js';
import { HoldfastError } from '../../../core/state/errors.js';
import type { AskRow } from '../../../store/asks.js';

const MINE: GivenAnswer = { askId: 'run:0', by: 'mia', value: 'blue' };

/** A store that knows one question, after so many looks, and the answer that the model was given. */
function storeWith(row: Partial<AskRow>, { taken, after = 0 }: { taken?: string; after?: number }) {
  let looks = 0;
  const kept = { runId: 'run', askId: 'run:0', callId: 'c1', tenant: 't', by: [], ...row };
  const finished = { type: 'tool_finished', callId: 'c1', content: { text: taken } };
  const other = { type: 'tool_finished', callId: 'c0', content: { text: 'of another call' } };
  return {
    getAsk: async () => (looks++ < after ? { ...kept, outcome: 'pending' } : kept),
    openedSeq: async () => 3,
    readEvents: async () => ({ events: [other, ...(taken === undefined ? [] : [finished])] }),
    getText: async (_: string, { text }: { text: string }) => text,
  } as unknown as ReadingStore;
}

const heard = (store: ReadingStore | undefined, given = MINE) =>
  heardAnswer({ store, tenant: 't' }, 'run', given);
const accepted = { delivered: 'update', verdict: { accepted: true, outcome: 'answered' } };
const refused = (reason: string, message: string) => ({
  delivered: 'update',
  verdict: { accepted: false, reason, message },
});

test('an answer that the model reads counts, as soon as the run has told it', async () => {
  const row = { outcome: 'answered', by: ['mia'] } as const;
  expect(await heard(storeWith(row, { taken: 'blue', after: 2 }))).toEqual(accepted);
  const colour = { colour: 'blue' };
  const told = storeWith(row, { taken: JSON.stringify(colour) });
  expect(await heard(told, { ...MINE, value: colour })).toEqual(accepted);
});

test('of two answers of one person to one question the one that the model does not read is refused', async () => {
  const store = storeWith({ outcome: 'answered', by: ['mia'] }, { taken: 'red' });
  expect(await heard(store)).toEqual(
    refused('already_decided', 'the question was answered by mia with another answer'),
  );
});

test('an answer to a question that another person answered, or nobody in time, is refused', async () => {
  expect(await heard(storeWith({ outcome: 'answered', by: ['bob'] }, { taken: 'blue' }))).toEqual(
    refused('already_decided', 'the question was answered by bob'),
  );
  expect(await heard(storeWith({ outcome: 'expired' }, {}))).toEqual(
    refused('late', 'the question was expired'),
  );
  expect(await heard(storeWith({ outcome: 'withdrawn' }, {}))).toEqual(
    refused('already_decided', 'the question was withdrawn'),
  );
});

test('a clock that is set back keeps nobody waiting for a run that says nothing', async () => {
  jest.useFakeTimers();
  try {
    const told = jest.fn();
    void heard(storeWith({ outcome: 'pending' }, {})).then(told);
    await jest.advanceTimersByTimeAsync(1_000);
    jest.setSystemTime(0);
    await jest.advanceTimersByTimeAsync(4_000);
    expect(told).toHaveBeenCalledWith({ delivered: 'signal' });
  } finally {
    jest.useRealTimers();
  }
});

test('nobody knows of an answer without a store, while the store is away, or until the run has told it', async () => {
  expect(await heard(undefined)).toEqual({ delivered: 'signal' });
  const away = new HoldfastError('StoreUnavailable', 'The store is away.');
  const store = { getAsk: () => Promise.reject(away) } as unknown as ReadingStore;
  expect(await heard(store)).toEqual({ delivered: 'signal', storeAway: true });
  // A question of another run under the same id says nothing of this one.
  const other = storeWith({ runId: 'other', outcome: 'answered', by: ['bob'] }, {});
  expect(await heard(other)).toEqual({ delivered: 'signal' });
});
