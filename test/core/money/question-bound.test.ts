/** The largest question that is paid for. */
import {
  QUESTION_BYTES_MAX,
  QUESTION_BYTES_MIN,
  questionWithin,
} from '../../../core/money/question-bound.js';

const asked = (input: number) => ({
  maxTokens: 1_000,
  route: {
    name: 'm',
    provider: 'p',
    model: 'm',
    contextWindow: 200_000,
    maxOutputTokens: 8_000,
    prices: { input, output: 1_000_000, cacheRead: 0, cacheWrite: 0 },
    pricesVersion: '1',
    temperatureAllowed: true,
  },
});

test('where reading is free, the price of the answer is enough, and nothing less is', () => {
  expect(questionWithin(asked(0), 1_000)?.inputTokens).toBe(QUESTION_BYTES_MAX);
  expect(questionWithin(asked(0), 999)).toBeUndefined();
});

test('a question is as large as the money, from the smallest that is of use', () => {
  const answer = 1_000;
  expect(questionWithin(asked(1_000_000), answer + QUESTION_BYTES_MIN)?.inputTokens).toBe(
    QUESTION_BYTES_MIN,
  );
  expect(questionWithin(asked(1_000_000), answer + QUESTION_BYTES_MIN - 1)).toBeUndefined();
});
