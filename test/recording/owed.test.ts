/** What a task leaves to the commands of the next one: a query ended it while work ran within it. */
import type { Effect } from '../../core/state/effect.js';
import type { Activation } from '../../recording/activations.js';
import { compared } from '../../recording/divergence.js';
import type { HistoryEvent } from '../../recording/history.js';

const inJson = (value: unknown) => ({
  payloads: [
    {
      metadata: { encoding: Buffer.from('json/plain').toString('base64') },
      data: Buffer.from(JSON.stringify(value)).toString('base64'),
    },
  ],
});

const MARKER = {
  eventId: '9',
  eventType: 'EVENT_TYPE_MARKER_RECORDED',
  markerRecordedEventAttributes: {
    markerName: 'core_local_activity',
    details: { data: inJson({ seq: 1, activity_type: 'execute_tool' }), result: inJson({}) },
  },
} as unknown as HistoryEvent;

const SCHEDULED = {
  eventId: '10',
  eventType: 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED',
  activityTaskScheduledEventAttributes: {
    activityId: 'call_model-2',
    activityType: { name: 'call_model' },
    input: inJson({}),
  },
} as unknown as HistoryEvent;

const read = { kind: 'execute_tool', id: 'execute_tool-1', local: true, input: {} } as Effect;
const ask = { kind: 'call_model', id: 'call_model-2', input: {} } as Effect;

const task = (...commands: readonly HistoryEvent[]) => ({ eventId: 4, commands }) as Activation;

test('work that outlasts its task is owed to the next one', () => {
  expect(compared(task(), [read], true)).toEqual({ owed: [read] });
  expect(compared(task(MARKER, SCHEDULED), [read, ask], true)).toEqual({ owed: [] });
});

test('what is decided on the end of work that came with the task before is owed as well', () => {
  expect(compared(task(MARKER), [read, ask], true)).toEqual({ owed: [ask] });
  expect(compared(task(SCHEDULED), [ask], true)).toEqual({ owed: [] });
});

test('nothing else is: it differs at once', () => {
  const differs = { difference: { eventId: 4, reason: expect.any(String) } };
  expect(compared(task(), [ask], true)).toMatchObject(differs);
  expect(compared(task(), [read, read], true)).toMatchObject(differs);
  expect(compared(task(MARKER), [], true)).toMatchObject(differs);
  expect(compared(task(MARKER), [ask], true)).toMatchObject(differs);
});

test('the last task owes nothing to anybody', () => {
  expect(compared(task(), [read], false).difference?.reason).toContain('within the task');
  expect(compared(task(MARKER), [read, ask], false).difference?.reason).toContain('call_model');
});
