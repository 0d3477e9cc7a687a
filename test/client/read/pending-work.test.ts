/** The server's list of pending work, read: with codecs of users, and whatever they do. */
import { defaultPayloadConverter, type PayloadCodec } from '@temporalio/common';
import type { Link } from '../../../client/link.js';
import { pendingWorkOf } from '../../../client/read/pending-work.js';

const SINCE = 1_795_000_000_000;

/** Turns every byte around, both ways. */
const turn: PayloadCodec['encode'] = async (payloads) =>
  payloads.map((one) => ({ ...one, data: (one.data ?? new Uint8Array()).map((byte) => ~byte) }));

function linkWith(decode: PayloadCodec['decode']): Link {
  const payloadCodecs: readonly PayloadCodec[] = [{ encode: turn, decode }];
  const loadedDataConverter = { payloadConverter: defaultPayloadConverter, payloadCodecs };
  return { temporal: { options: { loadedDataConverter } } } as unknown as Link;
}

async function readWith(decode: PayloadCodec['decode'], facts: object) {
  const details = await turn([defaultPayloadConverter.toPayload(facts)]);
  const { activities } = await pendingWorkOf(linkWith(decode), {
    pendingActivities: [
      {
        activityId: 'r:1',
        activityType: { name: 'call_model' },
        state: 1,
        attempt: 3,
        scheduledTime: { seconds: SINCE / 1_000 + 30, nanos: 5_000_000 },
        lastFailure: {
          message: 'Away.',
          applicationFailureInfo: { type: 'StoreUnavailable', details: { payloads: details } },
        },
      },
    ],
  } as unknown as Parameters<typeof pendingWorkOf>[1]);
  return activities[0]!;
}

test('what a failure carries is decoded as the workers encoded it', async () => {
  expect(await readWith(turn, { waitingSince: SINCE })).toMatchObject({
    type: 'call_model',
    state: 'scheduled',
    attempt: 3,
    dueAt: SINCE + 30_005,
    failure: { type: 'StoreUnavailable', message: 'Away.', facts: { waitingSince: SINCE } },
  });
});

const FACTS = { waitingSince: SINCE };

test.each<[string, PayloadCodec['decode'], object]>([
  ['throws', () => Promise.reject(new Error('the key service cannot be reached')), FACTS],
  ['never ends', () => new Promise(() => undefined), FACTS],
  ['gives nothing', async () => [], FACTS],
  [
    'is never asked, as there is too much of it',
    turn,
    { waitingSince: SINCE, x: 'x'.repeat(70_000) },
  ],
])('a codec that %s keeps nobody from the rest', async (_, decode, facts) => {
  const { failure } = await readWith(decode, facts);
  expect(failure).toMatchObject({ type: 'StoreUnavailable', message: 'Away.' });
  expect(failure!.facts).toBeUndefined();
});

/** A run with activities that were lost with their workers, and how often its history is read. */
async function withLost(ids: readonly string[]) {
  const [summary] = await turn([defaultPayloadConverter.toPayload('orders.read')]);
  const events = ids.map((activityId) => ({
    activityTaskScheduledEventAttributes: { activityId },
    userMetadata: { summary },
  }));
  const asked = jest.fn(async () => ({ history: { events } }));
  const link = {
    ...linkWith(turn),
    connection: {
      withDeadline: (_: unknown, work: () => unknown) => work(),
      withAbortSignal: (_: unknown, work: () => unknown) => work(),
      workflowService: { getWorkflowExecutionHistoryReverse: asked },
    },
  } as unknown as Link;
  const pendingActivities = ids.map((activityId) => ({
    activityId,
    activityType: { name: 'execute_tool' },
    state: 2,
    attempt: 8,
    lastFailure: { message: 'Heartbeat timeout', timeoutFailureInfo: { timeoutType: 4 } },
  }));
  const described = { pendingActivities } as unknown as Parameters<typeof pendingWorkOf>[1];
  return { link, described, asked };
}

test('of activities that were lost with their workers the history says what they do, and is read once for all', async () => {
  const ids = Array.from({ length: 50 }, (_, n) => `r:${n}`);
  const { link, described, asked } = await withLost(ids);
  const { activities } = await pendingWorkOf(link, described);
  const told = { type: 'execute_tool', attempt: 8, summary: 'orders.read' };
  expect(activities).toMatchObject(ids.map((id) => ({ id, ...told })));
  expect(asked).toHaveBeenCalledTimes(1);
});

test('who only looks whether a run goes on has its history read by nobody', async () => {
  const { link, described, asked } = await withLost(['r:1']);
  const { activities } = await pendingWorkOf(link, described, 'brief');
  expect(activities).toMatchObject([{ id: 'r:1', attempt: 8, failure: { lost: true } }]);
  expect(activities[0]).not.toHaveProperty('summary');
  expect(asked).not.toHaveBeenCalled();
});
