/** Answers of queries that come while local activities run, as the SDK tells them to its interceptors. */
import { answersBehindReads, TASK_REPLACED, type Command } from '../../workflows/query-answers.js';

const begin = (seq: number): Command => ({ scheduleLocalActivity: { seq } });
const answer = (queryId: string): Command => ({ respondToQuery: { queryId } });
const ended = (seq: number) => ({ resolveActivity: { seq, isLocal: true } });
const SCHEDULE: Command = {};

test('an answer goes out at once while no local activity runs', () => {
  const answers = answersBehindReads();
  expect(answers.sent([SCHEDULE, answer('a')])).toEqual([SCHEDULE, answer('a')]);
  answers.sent([begin(1)]);
  answers.heard([ended(1)]);
  expect(answers.sent([answer('b')])).toEqual([answer('b')]);
});

test('an answer waits until the last of the local activities has ended, and goes out once', () => {
  const answers = answersBehindReads();
  answers.sent([begin(1)]);
  expect(answers.sent([answer('a'), answer('b')])).toEqual([]);
  answers.heard([ended(1)]);
  expect(answers.sent([begin(2)])).toEqual([begin(2)]);
  answers.heard([ended(2)]);
  expect(answers.sent([SCHEDULE])).toEqual([SCHEDULE, answer('a'), answer('b')]);
  expect(answers.sent([SCHEDULE])).toEqual([SCHEDULE]);
});

test('an answer of the activation that begins a local activity waits as well', () => {
  const answers = answersBehindReads();
  expect(answers.sent([answer('a'), begin(1)])).toEqual([begin(1)]);
  answers.heard([ended(1)]);
  expect(answers.sent([])).toEqual([answer('a')]);
});

test('the end of an ordinary activity of the same number is none', () => {
  const answers = answersBehindReads();
  answers.sent([begin(1)]);
  answers.heard([{ resolveActivity: { seq: 1 } }]);
  expect(answers.sent([answer('a')])).toEqual([]);
});

test('a query with a task of its own is refused beside a local activity, and let in otherwise', () => {
  const answers = answersBehindReads();
  const asked = [{ queryWorkflow: { queryId: 'legacy_query' } }];
  expect(() => answers.heard(asked)).not.toThrow();
  expect(answers.sent([answer('legacy_query')])).toEqual([answer('legacy_query')]);
  answers.sent([begin(1)]);
  expect(() => answers.heard([{ queryWorkflow: { queryId: 'a' } }])).not.toThrow();
  expect(() => answers.heard(asked)).toThrow(TASK_REPLACED);
  answers.heard([ended(1)]);
  expect(() => answers.heard(asked)).not.toThrow();
});
