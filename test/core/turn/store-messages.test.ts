/** Messages that are stored by themselves: as many of the oldest as fit, and at least one. */
import {
  APPEND_BYTES_MAX,
  messagesNotStored,
  messagesStored,
  storeMessages,
  storeSome,
} from '../../../core/turn/store-messages.js';
import { jsonBytes } from '../../../core/json/json.js';
import type { OpenRun } from '../../../core/state/run.js';
import type { TranscriptItem } from '../../../core/state/transcript.js';
import { retriesIn } from '../../../core/turn/retries.js';
import { says } from '../script.js';
import { createShell, until } from '../shell.js';

const ROOM = 40 * 1024;

function opened(more: object = {}): OpenRun {
  const shell = createShell({ model: [says('done')] });
  until(shell, 'session_init');
  const { storing: _, ...run } = shell.run as OpenRun;
  return { ...run, ...more } as OpenRun;
}

/** A message that takes exactly so many bytes. */
function item(bytes: number): TranscriptItem {
  const make = (text: string) =>
    ({ kind: 'user', messageId: 'm', content: { text } }) as TranscriptItem;
  return make('x'.repeat(bytes - jsonBytes(make(''))));
}

const storedOf = (pending: readonly TranscriptItem[]): number =>
  storeSome(opened({ pending })).run.storing!.messages;

test.each([
  [[ROOM], 1],
  [[ROOM + 1], 1],
  [[ROOM - 100, 100], 2],
  [[ROOM - 100, 101], 1],
  [[ROOM + 1, 100], 1],
  [[100, ROOM + 1], 1],
  [[100, 100, 100], 3],
])('of messages of %j bytes %i are stored', (sizes, count) => {
  expect(storedOf(sizes.map(item))).toBe(count);
});

test('messages wait for what is under way, and travel with a request where they fit', () => {
  expect(storeMessages(opened({ storing: { effectId: 'flush-1', messages: 1 } }))).toBe('hold');
  const list = (bytes: number) => [item(bytes - 2)];
  expect(jsonBytes(list(APPEND_BYTES_MAX))).toBe(APPEND_BYTES_MAX);
  expect(storeMessages(opened({ pending: list(APPEND_BYTES_MAX) }))).toBeUndefined();
  expect(storeMessages(opened({ pending: list(APPEND_BYTES_MAX + 1) }))).toMatchObject({
    run: { storing: { messages: 1 } },
  });
});

test('they are nodes once their own effect says so', () => {
  const pending = [item(100), item(200), item(300)];
  const run = opened({ pending, storing: { effectId: 'flush-7', messages: 2 } });
  const output = { eventsUpTo: 0, head: 'node' };
  expect(messagesStored(run, 'flush-7', output)).toMatchObject({
    head: 'node',
    pending: [pending[2]],
  });
  expect(messagesStored(run, 'flush-7', output).storing).toBeUndefined();
  expect(messagesStored(run, 'flush-8', output)).toBe(run);
  expect(messagesStored(run, 'flush-7', { eventsUpTo: 0 })).toBe(run);
  expect(messagesStored(opened(), 'flush-7', output).head).not.toBe('node');
});

test('what cannot be stored ends the requests, and leaves a run that ends without it', () => {
  const failure = { code: 'Internal', message: 'too large' } as const;
  const storing = { effectId: 'flush-7', messages: 1 };
  const run = opened({ pending: [item(100)], storing });
  expect(messagesNotStored(run, 'flush-8', failure)).toBe(run);
  expect(messagesNotStored(run, 'flush-7', failure)).toMatchObject({
    modelFailure: { code: 'Internal', message: 'too large', attempts: 1, outOfTime: false },
    pending: [{}],
  });
  const ending = opened({ pending: [item(100)], storing, stopping: { reason: 'completed' } });
  const left = messagesNotStored(ending, 'flush-7', failure);
  expect([left.pending, left.storing, left.modelFailure]).toEqual([[], undefined, undefined]);
});

test('attempts that a failure tells of are bounded, and taken where they have their form', () => {
  const good = { attempt: 1, class: 'x'.repeat(65) };
  expect(retriesIn([good])).toEqual([{ attempt: 1, class: 'x'.repeat(64) }]);
  const bad = [
    null,
    'x',
    {},
    { attempt: 1 },
    { class: 'a' },
    { attempt: 1.5, class: 'a' },
    { attempt: '1', class: 'a' },
  ];
  expect(retriesIn(bad)).toEqual([]);
  expect(retriesIn('x')).toEqual([]);
  expect(retriesIn(Array.from({ length: 41 }, () => good))).toHaveLength(40);
});
