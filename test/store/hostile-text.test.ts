import type { EventBody } from '../../core/state/event.js';
import { cleanUp, eventsFrom, newStore, RESULT, SESSION_INIT } from './fixtures.js';

afterAll(cleanUp);

const SOURCE = { tenant: 't', runId: 'r1', execution: 'e' };
/** A database may refuse the first, ours uses the second for itself, the third is like what it makes of them. */
const TEXT = 'nul \0, reserved \uFDD0 \uFDD00 \uFDD01, key 🔑';

function eventsWith(text: string): readonly EventBody[] {
  return [
    { ...SESSION_INIT, goal: { text }, caller: text, model: text } as EventBody,
    { type: 'warning', code: 'late_input', message: text },
    { type: 'run_result', result: { ...RESULT, detail: text } },
  ];
}

test('a text that a database may refuse comes back from wherever it was stored', async () => {
  const { store, place } = await newStore();
  const events = eventsFrom(0, eventsWith(TEXT));
  await store.appendEvents(SOURCE, events);
  const ref = await store.putBlob('t', TEXT);
  const node = { v: 1, parent: null, role: 'user', messageId: 'm' } as const;
  const message = { ...node, blocks: [{ type: 'text', text: TEXT }] } as const;
  const head = await store.putNode('t', message);
  const carry = { v: 1, taskId: 't1', step: 2, reactiveAttempts: 1, state: {} } as const;
  await store.saveSession({
    tenant: 't',
    sessionId: 's',
    head,
    runId: 'r1',
    agent: 'a',
    caller: TEXT,
    cwd: TEXT,
    title: TEXT,
    carry,
    base: 0,
    at: 1,
  });

  // Another one, which remembers nothing.
  const { store: fresh } = await newStore(place);
  expect((await fresh.readEvents(SOURCE, { sinceSeq: 0, limit: 9 })).events).toEqual(events);
  const row = { goalPreview: TEXT, caller: TEXT, model: TEXT, detail: TEXT };
  expect(await fresh.getRun('t', 'r1')).toMatchObject(row);
  expect(await fresh.getBlob('t', ref.$blob)).toBe(TEXT);
  expect(await fresh.readChain('t', head)).toEqual([{ ...message, hash: head }]);
  const session = await fresh.latestSession('t', { caller: TEXT, cwd: TEXT });
  expect(session).toMatchObject({ title: TEXT, caller: TEXT, cwd: TEXT });
  expect(await fresh.latestSession('t', { caller: TEXT.replace('\0', ''), cwd: TEXT })).toBe(
    undefined,
  );
});

test('half a character stops nothing: in a list it is U+FFFD, in the event it is as it was', async () => {
  const { store } = await newStore();
  const events = eventsFrom(0, eventsWith('half \uD83D'));
  await store.appendEvents(SOURCE, events);
  expect((await store.readEvents(SOURCE, { sinceSeq: 0, limit: 9 })).events).toEqual(events);
  expect(await store.getRun('t', 'r1')).toMatchObject({
    goalPreview: 'half \uFFFD',
    detail: 'half \uFFFD',
    result: { detail: 'half \uD83D' },
  });
});
