import type { Json } from '../../../core/json/json.js';
import type { WireEvent } from '../../../core/state/event.js';
import { briefEvents, fullEvents, type BriefEvent } from '../../../core/step/brief-events.js';
import { ownId, wholeId } from '../../../core/step/brief-ids.js';

const AROUND = { runId: 'r' };

function event(
  body: { readonly type: string; readonly [field: string]: Json },
  seq = 0,
): WireEvent {
  return { ...body, stamp: { seq } } as unknown as WireEvent;
}

const response = (...calls: readonly (readonly [id: string, args: Json])[]): WireEvent =>
  event({
    type: 'model_response',
    call: 1,
    messageId: 'r:m1',
    calls: calls.map(([id, args]) => ({ id, tool: `tool-${id}`, args })),
    stopReason: 'tool_use',
    model: 'm',
    usage: { input: 1, output: 2, cacheRead: 0, cacheWrite: 3 },
    costMicroUsd: 4,
  });

const validation = (id: string) =>
  ({
    ...event({ type: 'validation', decision: 'execute', callId: id, tool: `tool-${id}` }),
    stamp: { seq: 0, phase: 'dispatching_tools', rule: 'dispatch' },
  }) as WireEvent;
const started = (id: string, args: Json, tool = `tool-${id}`) =>
  event({ type: 'tool_started', callId: id, tool, key: `r:${id}`, args });

/** As a history has them, and back. */
function carried(events: readonly WireEvent[], append?: Json) {
  const numbered = events.map((one, seq) => ({ ...one, stamp: { ...one.stamp, seq: seq + 5 } }));
  const around = { ...AROUND, ...(append !== undefined && { append: append as never }) };
  const brief = JSON.parse(JSON.stringify(briefEvents(numbered, around))) as BriefEvent[];
  return { numbered, brief, back: fullEvents(brief, around) };
}

describe('events in a brief payload', () => {
  test('say of a call what nobody can know: not its id, tool and arguments a second time', () => {
    const { numbered, brief, back } = carried([
      response(['a', { x: 1 }]),
      validation('a'),
      event({ type: 'permission', callId: 'a', tool: 'tool-a', decision: 'allow', rule: 'tool' }),
      started('a', { x: 1 }),
    ]);
    expect(brief.slice(1)).toEqual([
      { type: 'validation' },
      { type: 'permission' },
      { type: 'tool_started', key: ':a' },
    ]);
    expect(back).toEqual(numbered);
  });

  test('of several calls in one reply each validation is about the next', () => {
    const { numbered, brief, back } = carried([
      response(['a', 1], ['b', 2], ['c', 3]),
      validation('a'),
      validation('b'),
      validation('c'),
      started('c', 3),
      started('a', 1),
    ]);
    expect(brief.slice(1)).toEqual([
      { type: 'validation' },
      { type: 'validation' },
      { type: 'validation' },
      { type: 'tool_started', key: ':c' },
      { type: 'tool_started', callId: 'a', key: ':a' },
    ]);
    expect(back).toEqual(numbered);
  });

  test.each<[string, readonly WireEvent[]]>([
    [
      'an answer behind calls, which is about none of them',
      [response(['a', 1]), event({ type: 'validation', decision: 'final' })],
    ],
    [
      'a validation that names no tool',
      [response(['a', 1]), event({ type: 'validation', decision: 'deny', callId: 'a' })],
    ],
    ['arguments that were changed', [response(['a', { x: 1 }]), started('a', { x: 2 })]],
    ['arguments in another order', [response(['a', { x: 1, y: 2 }]), started('a', { y: 2, x: 1 })]],
    ['arguments that are null', [response(['a', { x: 1 }]), started('a', null)]],
    ['another tool', [response(['a', 1]), started('a', 1, 'other')]],
    ['an id that no reply has', [started('a', 1), validation('b')]],
    ['calls that share an id', [response(['a', 1], ['a', 2]), validation('a'), started('a', 1)]],
    [
      'ids that look like shortened ones',
      [
        event({ type: 'tool_results_message', messageId: ':m1', callIds: ['a'] }),
        event({ type: 'tool_results_message', messageId: '::m1', callIds: [] }),
        event({ type: 'tool_results_message', messageId: 'r::m1', callIds: [] }),
        event({ type: 'tool_results_message', messageId: 'r', callIds: [] }),
        event({ type: 'tool_results_message', messageId: 'rr:m', callIds: [] }),
      ],
    ],
  ])('%s: nothing is lost', (_what, events) => {
    const { numbered, back } = carried(events);
    expect(back).toEqual(numbered);
  });

  test('a message of results names its calls only where the payload appends others', () => {
    const results = (...ids: readonly string[]): Json => [
      { kind: 'results', messageId: 'r:m2', results: ids.map((callId) => ({ callId })) },
    ];
    const message = event({ type: 'tool_results_message', messageId: 'r:m2', callIds: ['a', 'b'] });
    const same = carried([message], results('a', 'b'));
    expect(same.brief).toEqual([{ type: 'tool_results_message', stamp: { seq: 5 } }]);
    expect(same.back).toEqual(same.numbered);
    const other = carried([message], results('a'));
    expect(other.brief[0]).toHaveProperty('callIds');
    expect(other.back).toEqual(other.numbered);
  });

  test('numbers with a gap are said', () => {
    const events = [3, 4, 9].map((seq) => event({ type: 'transition', reason: 'next_turn' }, seq));
    const brief = briefEvents(events, AROUND);
    expect(brief.map(({ stamp }) => stamp)).toEqual([{ seq: 3 }, undefined, { seq: 9 }]);
    expect(fullEvents(brief, AROUND)).toEqual(events);
  });

  test('a stamp is left out where it is usual of the type, and said where it is not', () => {
    const stamps = [
      { seq: 5, at: 1, phase: 'validating' },
      { seq: 6, phase: 'dispatching_tools', rule: 'dispatch' },
      { seq: 7 },
      { seq: 8, rule: 'dispatch' },
    ];
    const events = stamps.map(
      (stamp) => ({ type: 'validation', decision: 'final', stamp }) as unknown as WireEvent,
    );
    const brief = briefEvents(events, AROUND);
    const { seq: _, ...last } = stamps[3]!;
    expect(brief.map(({ stamp }) => stamp)).toEqual([stamps[0], undefined, {}, last]);
    expect(fullEvents(brief, AROUND)).toEqual(events);
  });
});

test('an id is the same behind any run', () => {
  const texts = ['', ':', '::', ':m1', 'r', 'r:', 'r:m1', 'r::m1', 'r:r:m1', 'rr:m1', 'x:m1'];
  for (const runId of ['r', 'r:m1', 'rr', ':', 'x'])
    for (const text of texts)
      expect([runId, wholeId(ownId(text, runId), runId)]).toEqual([runId, text]);
  expect(ownId('r:m1', 'r')).toBe(':m1');
});
