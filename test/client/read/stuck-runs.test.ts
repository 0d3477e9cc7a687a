import { waitingTooLong } from '../../../client/read/stuck-runs.js';

const NOW = 10_000_000;

test('a run counts as stuck when it has waited for more than 60 s, and says for what and since when', () => {
  const waits = [
    { for: 'the store', activity: 'call_model', since: NOW - 60_001, attempts: 9, message: 'No.' },
    { for: 'a worker', since: NOW - 60_000, attempts: 0 },
  ];
  expect(waitingTooLong({ runId: 'r', waits }, NOW)).toEqual([
    {
      runId: 'r',
      kind: 'waiting',
      waitsFor: 'the store',
      activity: 'call_model',
      since: NOW - 60_001,
      attempt: 9,
      reason: 'No.',
    },
  ]);
  const untold = waitingTooLong({ runId: 'r', waits }, NOW + 1_000)[1];
  expect(untold).toMatchObject({ waitsFor: 'a worker', reason: 'it waits for a worker' });
});
