/** Two runs beside each other: what is the same stands side by side, and what differs is named. */
import { printDiff } from '../../cli/render/diff.js';
import { createOutput } from '../../cli/terminal/output.js';
import type { RunEvent } from '../../core/state/event.js';
import { diffOf, type Diff } from '../../recording/diff.js';
import { stored } from '../replay/setup.js';

let events: readonly RunEvent[];
beforeAll(async () => {
  ({ events } = await stored('approved'));
});

const compared = (runId: string, of: readonly RunEvent[], isActions = true): Diff =>
  diffOf({ runId: 'A', events }, { runId, events: of }, { actions: isActions });

const warning: RunEvent = {
  type: 'warning',
  code: 'loop_detected',
  message: 'a warning that one run alone has',
  stamp: { seq: 1_000, turn: 1, at: 0 },
} as unknown as RunEvent;

/** Of rows that are marked, what each side says. */
const marked = ({ rows }: Diff) =>
  rows.filter(({ differs }) => differs).map(({ a, b }) => [a?.says, b?.says]);

const indexOf = (type: RunEvent['type']): number => events.findIndex((one) => one.type === type);

test('behind a row that one run alone has, the same words stand side by side and are not marked', () => {
  const at = indexOf('tool_started');
  const diff = compared('B', events.toSpliced(at, 0, warning));
  expect(marked(diff)).toHaveLength(1);
  expect(diff.rows[0]).toMatchObject({ a: null, b: { type: 'warning' }, differs: true });
  const others = diff.rows.slice(1);
  expect(others.length).toBeGreaterThan(2);
  expect(others.every(({ a, b }) => a !== null && a.says === b?.says)).toBe(true);
  expect(diff).toMatchObject({
    differsIn: 'action',
    first: { a: { type: 'tool_started' }, b: { type: 'warning' } },
    decision: { a: null, b: { type: 'warning' } },
  });
});

test('where a segment ends is no difference: one run waited for its answer, the other had the answer at once', () => {
  const over = { ...warning, type: 'transition', reason: 'continued_as_new' } as RunEvent;
  for (const isActions of [true, false])
    expect(
      compared('B', events.toSpliced(indexOf('tool_started'), 0, over), isActions),
    ).toMatchObject({
      differsIn: 'nothing',
    });
});

test('of a run that goes on nobody says that it has ended: its record does', () => {
  const open = compared('B', events.slice(0, indexOf('approval_resolved')));
  expect(open).toMatchObject({ b: { stopReason: null }, first: { b: null } });
  expect(open.why).toMatch(/^The record of the second run ends; the first goes on: /);
  let out = '';
  const streams = { out: (text: string) => void (out += text), err: () => undefined };
  printDiff(open, createOutput(streams, { json: false, colour: false }));
  expect(out).toContain(', B has nothing more');
  expect(out).not.toContain('has ended');
});

test('with --actions a row that differs in action names nothing of what was said, or what it cost', () => {
  const other = events.map((event) =>
    event.type === 'model_response' && event.calls.length > 0
      ? {
          ...event,
          costMicroUsd: event.costMicroUsd + 1,
          calls: event.calls.map((call) => ({ ...call, args: { other: true } })),
        }
      : event,
  );
  const named = (isActions: boolean) =>
    compared('B', other, isActions).rows.flatMap(({ fields = [] }) => fields);
  expect(named(false)).toContain('costMicroUsd');
  expect(named(true)).toContain('proposed');
  expect(named(true)).not.toContain('costMicroUsd');
});

test('a turn that one run alone has shifts no call of the later replies', () => {
  const from = indexOf('model_response');
  const to = indexOf('tool_finished') + 1;
  const again = events.slice(from, to).map((event) => {
    if (event.type === 'model_response') {
      const calls = event.calls.map((call) => ({
        ...call,
        id: `again-${call.id}`,
        args: { other: 1 },
      }));
      return { ...event, call: 0, calls };
    }
    return 'callId' in event ? { ...event, callId: `again-${event.callId}` } : event;
  }) as RunEvent[];
  const longer = events
    .toSpliced(from, 0, ...again)
    .map((event) => (event.type === 'model_response' ? { ...event, call: event.call + 1 } : event));
  const diff = compared('B', longer);
  const alone = diff.rows.filter(({ a }) => a === null);
  const shared = again.length - again.filter(({ type }) => type === 'decision_recorded').length;
  expect(alone).toHaveLength(shared);
  expect(marked(diff)).toHaveLength(shared);
});

test('hundreds of rows that one run alone has are passed; of more, every place is shown once all the same', () => {
  const at = indexOf('tool_started');
  const diff = compared(
    'B',
    events.toSpliced(at, 0, ...Array.from({ length: 900 }, () => warning)),
  );
  const [left, right] = (['a', 'b'] as const).map((side) =>
    diff.rows.flatMap((row) => (row[side] === null ? [] : [row[side].type])),
  );
  expect(right!.filter((type) => type === 'warning')).toHaveLength(900);
  expect(right!.filter((type) => type !== 'warning')).toEqual(left);
});

/** Each with an action of its own. */
const warnings = (name: string, length: number): readonly RunEvent[] =>
  Array.from({ length }, (_, n) => ({ ...warning, code: `${name}-${n}` }) as unknown as RunEvent);

test('behind a stretch of any length that one run alone has, the same stands side by side again', () => {
  const at = indexOf('tool_started');
  for (const length of [300, 600, 2_000]) {
    const longer = events.toSpliced(at, 0, ...warnings('alone', length));
    const diff = compared('B', longer);
    const of = (type: string) => diff.rows.filter(({ a, b }) => (a ?? b)!.type === type);
    expect(of('warning').every(({ a }) => a === null)).toBe(true);
    expect(diff.actionsApart).toBeUndefined();
    if (length < 1_000) {
      const others = diff.rows.filter(({ b }) => b?.type !== 'warning');
      expect(others.length).toBeGreaterThan(2);
      expect(others.every(({ a, b }) => a !== null && a.says === b?.says)).toBe(true);
    }
  }
});

test('actions that both runs took, and that stand too far apart to stand side by side, are counted', () => {
  const [first, second] = warnings('moved', 2);
  const between = (name: string) => warnings(name, 700);
  const a = { runId: 'A', events: [...events, first!, ...between('a'), second!] };
  const b = { runId: 'B', events: [...events, second!, ...between('b'), first!] };
  const diff = diffOf(a, b, { actions: true });
  expect(diff.actionsApart).toBe(1);
  let out = '';
  const streams = { out: (text: string) => void (out += text), err: () => undefined };
  printDiff(diff, createOutput(streams, { json: false, colour: false }));
  expect(out).toContain('1 action of both runs stand more than 256 rows apart');
  expect(diffOf(a, a, { actions: true })).not.toHaveProperty('actionsApart');
});

test('what comes again and again, and is shifted by a stretch that one run alone has, is counted as well', () => {
  const again = (name: string, length: number) =>
    Array.from({ length }, () => ({ ...warning, code: name }) as unknown as RunEvent);
  const shared = again('shared', 400);
  const a = { runId: 'A', events: [...events, ...shared] };
  const b = { runId: 'B', events: [...events, ...again('alone', 550), ...shared] };
  const diff = diffOf(a, b, { actions: true });
  const beside = diff.rows.filter(({ differs }) => !differs).length;
  expect(diff.rows.length).toBeLessThan(1_000);
  expect(diff.actionsApart).toBe(shared.length - beside);
  expect(diff.actionsApart).toBeGreaterThan(100);
  // More of the same at the end of one run has nothing to stand beside.
  const longer = { runId: 'B', events: [...events, ...again('shared', 1_300)] };
  expect(diffOf(a, longer, { actions: true })).not.toHaveProperty('actionsApart');
});

test('rows with the same words say in which fields they differ', () => {
  const other = events.map((event) =>
    event.type === 'session_init' ? { ...event, goal: { text: 'Another goal.' } } : event,
  ) as RunEvent[];
  const [first] = compared('B', other, false).rows;
  expect(first).toMatchObject({ differs: true, fields: ['goal'] });
  expect(first!.a!.says).toBe(first!.b!.says);
});
