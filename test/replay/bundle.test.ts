/** What is no bundle of this format, whole and unchanged, is refused with the reason. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import type { HistoryEvent, JsonObject } from '../../recording/history.js';
import { parseBundle, readBundle } from '../../replay/read-bundle.js';
import { attributes, changed, scheduled, stored } from './setup.js';

let bundle: Bundle;
let text: string;
beforeAll(async () => {
  bundle = await stored('long-text');
  text = bundleText(bundle);
});

const refusal = (content: string): string => {
  try {
    parseBundle(content, 'run.json');
  } catch (error) {
    expect(error).toMatchObject({ name: 'HoldfastError', code: 'InvalidBundle' });
    return (error as Error).message;
  }
  throw new Error('it was read');
};

/** Sealed again, as whoever forges it would. */
const sealed = (change: (document: Bundle) => object): string =>
  bundleText(change(structuredClone(bundle)) as Bundle);

test('what was written is read again', () => {
  expect(parseBundle(text, 'run.json')).toEqual(bundle);
  expect(Object.keys(bundle.nodes).length).toBeGreaterThan(2);
  expect(Object.keys(bundle.blobs)).toHaveLength(1);
});

test.each([
  ['nothing', () => '', /it is empty/],
  ['half of one', () => text.slice(0, text.length / 2), /cut off or damaged: line 1, column \d+/],
  ['all but its end', () => text.trimEnd().slice(0, -1), /cut off or damaged/],
  ['other JSON', () => '{"events": []}', /no bundle/],
  ['JSON that is no object', () => 'null', /no bundle/],
  ['a newer one', () => text.replace('"v":1', '"v":3'), /format 3, and this release reads up to 2/],
  ['one with a changed character', () => text.replace('"segment":0', '"segment":1'), /digest/],
  ['one with an unknown key', () => sealed((one) => ({ ...one, extra: 1 })), /extra/],
  ['one without segments', () => sealed((one) => ({ ...one, segments: [] })), /segments/],
])('%s is refused', (_what, make, reason) => {
  expect(refusal(make())).toMatch(reason);
});

test('a newer format is met with what to do', () => {
  expect(() => parseBundle(text.replace('"v":1', '"v":7'), 'run.json')).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('newer') }),
  );
});

test('a forged message, a forged text, a gap and a chain that does not hold are refused', () => {
  const [hash, node] = Object.entries(bundle.nodes)[1]!;
  const forged = { ...bundle.nodes, [hash]: { ...node, role: 'user', blocks: [] } };
  expect(refusal(sealed((one) => ({ ...one, nodes: forged })))).toContain(`message ${hash}`);
  const [blob] = Object.keys(bundle.blobs);
  expect(refusal(sealed((one) => ({ ...one, blobs: { [blob!]: 'other' } })))).toContain('text');
  const [segment] = bundle.segments;
  const gap = { ...segment!, events: segment!.events.toSpliced(3, 1) };
  expect(refusal(sealed((one) => ({ ...one, segments: [gap] })))).toContain('gaps');
  const twice = [segment!, { ...segment!, segment: 1 }];
  expect(refusal(sealed((one) => ({ ...one, segments: twice })))).toContain(
    'segment 0 does not end',
  );
});

const changedEvents = (events: readonly HistoryEvent[]): string =>
  bundleText({ ...bundle, segments: [{ ...bundle.segments[0]!, events }] });

/** Event 1 starts the execution, 5 schedules its first activity, which 7 starts and 8 completes. */
const eventChanged = (id: number, change: (event: HistoryEvent) => object): string =>
  bundleText(
    changed(bundle, (event) =>
      event.eventId === `${id}` ? (change(event) as HistoryEvent) : event,
    ),
  );

const without = (name: string) => (event: HistoryEvent) => ({ ...event, [name]: undefined });

const fieldChanged = (id: number, kind: string, fields: JsonObject): string =>
  eventChanged(
    id,
    attributes(kind, (given) => ({ ...given, ...fields })),
  );

const payload = (change: JsonObject): string =>
  bundleText(
    changed(
      bundle,
      scheduled('open_run', (given) => {
        const [first] = (given.input as { readonly payloads: readonly JsonObject[] }).payloads;
        return { ...given, input: { payloads: [{ ...first!, ...change }] } };
      }),
    ),
  );

test.each([
  [
    'a start that says nothing',
    () => eventChanged(1, without('workflowExecutionStartedEventAttributes')),
    'event 1: it has no workflowExecutionStartedEventAttributes',
  ],
  [
    'attributes of another type',
    () => eventChanged(5, (event) => ({ ...event, timerStartedEventAttributes: {} })),
    'event 5: it has timerStartedEventAttributes, which is not of its type',
  ],
  [
    'an event type that there is not',
    () => eventChanged(5, (event) => ({ ...event, eventType: 'EVENT_TYPE_GUESSED' })),
    'event 5: there is no event type EVENT_TYPE_GUESSED',
  ],
  [
    'a workflow of another release',
    () => fieldChanged(1, 'workflowExecutionStarted', { workflowType: { name: 'guessed' } }),
    'event 1: this release has no workflow type guessed',
  ],
  [
    'a field of another type',
    () => fieldChanged(5, 'activityTaskScheduled', { activityId: 7 }),
    /event 5: .*activityId: expected string/,
  ],
  [
    'a start of what was never scheduled',
    () => fieldChanged(7, 'activityTaskStarted', { scheduledEventId: '2' }),
    'event 7: scheduledEventId 2 names no ACTIVITY_TASK_SCHEDULED before it',
  ],
  [
    'an outcome of what comes later',
    () => fieldChanged(8, 'activityTaskCompleted', { startedEventId: '900' }),
    'event 8: startedEventId 900 names no ACTIVITY_TASK_STARTED before it',
  ],
  [
    'data that is no base64',
    () => payload({ data: '***' }),
    'event 5: activityTaskScheduledEventAttributes.input.payloads[0].data is no base64',
  ],
  [
    'metadata that is no base64',
    () => payload({ metadata: { encoding: '%' } }),
    'payloads[0].metadata.encoding is no base64',
  ],
])('a history with %s is refused with its place', (_what, make, reason) => {
  const message = refusal(make());
  expect(message).toContain('segment 0, event ');
  expect(message).toMatch(reason);
});

test('a second start, and what follows an end, are refused', () => {
  const { events } = bundle.segments[0]!;
  const again = (event: HistoryEvent): string => {
    const renumbered = { ...event, eventId: `${events.length + 1}` };
    return changedEvents([...events, renumbered]);
  };
  expect(refusal(again(events[0]!))).toMatch(/something follows the end|begins a second time/);
  expect(refusal(again(events[1]!))).toContain('something follows the end');
  const renumbered = { ...events[0]!, eventId: '2' };
  expect(refusal(changedEvents([events[0]!, renumbered]))).toContain('begins a second time');
});

const missing = (message: string, change: (one: Bundle) => Partial<Bundle>) =>
  expect(refusal(sealed((one) => ({ ...one, ...change(one) })))).toContain(message);

test('a bundle without something that its histories name is refused', () => {
  const nodes = Object.entries(bundle.nodes);
  for (const [hash] of nodes) {
    missing(`it has no message ${hash}`, () => ({
      nodes: Object.fromEntries(nodes.filter(([name]) => name !== hash)),
    }));
  }
  missing('it has no message', () => ({ nodes: {} }));
  missing(`it has no text ${Object.keys(bundle.blobs)[0]}`, () => ({ blobs: {} }));
});

test('a bundle whose events are not those that its histories carried is refused', () => {
  const { seq } = bundle.events[3]!.stamp;
  missing('it has no event 0', () => ({ events: [] }));
  missing(`it has no event ${seq}`, ({ events }) => ({ events: events.toSpliced(3, 1) }));
  missing(`event ${seq} is none that the histories carry`, ({ events }) => ({
    events: events.with(3, { ...events[2]!, stamp: events[3]!.stamp }),
  }));
  missing(`event ${seq} is not where it should be`, ({ events }) => ({
    events: events.toSpliced(3, 0, events[3]!),
  }));
  missing('event 999 is none that the histories carry', ({ events }) => ({
    events: [...events, { ...events[0]!, stamp: { ...events[0]!.stamp, seq: 999 } }],
  }));
});

test('a bundle under the name of another run or tenant is refused', () => {
  const { tenant, runId } = bundle.run;
  missing(`is of the run ${runId}`, () => ({ run: { tenant, runId: 'other' } }));
  missing(`is of the tenant ${tenant}`, () => ({ run: { tenant: 'other', runId } }));
});

test('of a run that goes on, the store may be ahead of the history, but not behind it', () => {
  const [segment] = bundle.segments;
  const begun = segment!.events.slice(0, -20);
  const open = { ...bundle, segments: [{ ...segment!, events: begun }] };
  expect(parseBundle(bundleText(open), 'run.json')).toEqual(open);
  const behind = bundleText({ ...open, events: bundle.events.slice(0, 2) });
  expect(refusal(behind)).toContain('it has no event 2');
});

test('payloads that nobody can decode are what a client has sent, and no defect', () => {
  const encoding = Buffer.from('binary/guessed').toString('base64');
  expect(() => parseBundle(payload({ metadata: { encoding } }), 'run.json')).not.toThrow();
});

test('names that mean something to JavaScript mean nothing here', () => {
  const hostile = text.replace('"blobs":{', '"blobs":{"__proto__":"x",');
  expect(refusal(hostile)).toMatch(/digest|blobs/);
});

test('values that nest deeper than a call stack are refused', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  const hostile = text.replace('"events":[{"type"', `"events":[{"deep":${deep},"type"`);
  expect(hostile).not.toBe(text);
  expect(refusal(hostile)).toMatch(/nested too deeply|digest/);
});

test('a file that is not there, a folder and a binary file are refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bundle-'));
  try {
    const binary = join(folder, 'binary');
    writeFileSync(binary, Buffer.from([0, 1, 2, 255]));
    for (const file of [join(folder, 'none.json'), folder, binary]) {
      await expect(readBundle(file)).rejects.toMatchObject({ code: 'InvalidBundle' });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
