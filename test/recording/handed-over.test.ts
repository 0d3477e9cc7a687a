/** Which calls of a record had effects, as its histories alone say. */
import type { Json } from '../../core/json/json.js';
import { callReader } from '../../recording/handed-over.js';
import type { HistoryEvent } from '../../recording/history.js';

const payloads = (...values: readonly Json[]) => ({
  payloads: values.map((value) => ({
    metadata: { encoding: Buffer.from('json/plain').toString('base64') },
    data: Buffer.from(JSON.stringify(value)).toString('base64'),
  })),
});

type Effects = { readonly [tool: string]: string };

let count = 0;
function event(type: string, attributes: { readonly [name: string]: Json }): HistoryEvent {
  return { eventId: `${(count += 1)}`, eventType: `EVENT_TYPE_${type}`, ...attributes };
}

function opened(output: Json): HistoryEvent {
  return event('ACTIVITY_TASK_COMPLETED', {
    activityTaskCompletedEventAttributes: { scheduledEventId: '1', result: payloads(output) },
  });
}

function tools(effects: Effects): Json {
  return { tools: Object.entries(effects).map(([name, effect]) => ({ name, effect })) };
}

function called(tool: string, key: string): HistoryEvent {
  return event('ACTIVITY_TASK_SCHEDULED', {
    activityTaskScheduledEventAttributes: {
      activityType: { name: 'execute_tool' },
      input: payloads({ call: { key, tool, digest: `of ${key}`, args: {} } }),
    },
  });
}

function effectsOf(...segments: readonly (readonly HistoryEvent[])[]): readonly string[] {
  const reader = callReader();
  for (const events of segments) reader.segment({ events });
  return reader.effects().map(({ key }) => key);
}

test('a tool reads, or does not, as the agent declares it that the run had when it made the call', () => {
  const first = opened({ frozen: tools({ look: 'read', note: 'write' }) });
  const next = opened({ frozen: tools({ look: 'write', note: 'read' }) });
  expect(
    effectsOf(
      [first, called('look', 'a'), called('note', 'b')],
      [called('look', 'c')],
      [next, called('look', 'd'), called('note', 'e'), called('other', 'f')],
    ),
  ).toEqual(['b', 'd', 'f']);
});

test('a run that its first task has opened has the tools of that opening', () => {
  const within = event('MARKER_RECORDED', {
    markerRecordedEventAttributes: {
      markerName: 'core_local_activity',
      details: {
        data: payloads({ seq: 1, activity_type: 'open_run' }),
        result: payloads({ frozen: tools({ look: 'read', note: 'write' }) }),
      },
    },
  });
  expect(effectsOf([within, called('look', 'a'), called('note', 'b')])).toEqual(['b']);
});

test('a fork begins with the tools of the run before it, or with those frozen anew', () => {
  const kept = { run: { frozen: tools({ look: 'read' }) } };
  expect(effectsOf([opened({ fork: kept }), called('look', 'a')])).toEqual([]);
  const anew = { ...kept, frozen: tools({ look: 'write' }) };
  expect(effectsOf([opened({ fork: anew }), called('look', 'a')])).toEqual(['a']);
});

test('a call that was handed over twice has an effect if it had one once', () => {
  const [reads, writes] = ['read', 'write'].map((effect) =>
    opened({ frozen: tools({ look: effect }) }),
  );
  expect(
    effectsOf([writes!, called('look', 'a')], [reads!, called('look', 'a'), called('look', 'b')]),
  ).toEqual(['a']);
});
