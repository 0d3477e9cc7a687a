/** Events of a bundle that were written by somebody else: those that pass the form are explained and compared without an error. */
import type { Json } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import { explainRun } from '../../pure/explain.js';
import { keptHistories, readKept } from '../../lab/seal/kept-histories.js';
import { diffOf } from '../../recording/diff.js';
import { FORMS, isHistoryEvent, isRunEvent } from '../../replay/bundle-forms.js';
import { pieces } from '../../replay/bundle-schema.js';
import { drawn } from '../draw.js';
import { saySeed, SEED } from '../seed.js';

const DRAWN = 60;
saySeed(`events of ${DRAWN} kept histories are changed`);

const OTHERS: readonly (Json | undefined)[] = [undefined, null, 5, 'x', true, [], [null], {}, [{}]];

function read(event: RunEvent): void {
  explainRun([event]);
  diffOf({ runId: 'a', events: [event] }, { runId: 'b', events: [] }, { actions: false });
}

/** Changed at one place, down to two names deep. */
function* changedIn(value: { readonly [name: string]: unknown }, depth: number): Generator<object> {
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'type' && depth === 0) continue;
    for (const other of OTHERS) yield { ...value, [name]: other };
    const isDeep = depth < 2 && typeof inner === 'object' && inner !== null;
    if (!isDeep) continue;
    if (!Array.isArray(inner)) {
      for (const one of changedIn(inner as typeof value, depth + 1))
        yield { ...value, [name]: one };
    } else if (typeof inner[0] === 'object' && inner[0] !== null) {
      for (const one of changedIn(inner[0] as typeof value, depth + 1))
        yield { ...value, [name]: [one] };
    }
  }
}

test('an event that passes is read, whichever field is another', () => {
  const byType = new Map<string, RunEvent>();
  for (const kept of drawn(keptHistories(), DRAWN, SEED)) {
    for (const event of readKept(kept).events) byType.set(event.type, event);
  }
  const failed = new Map<string, string>();
  for (const [type, event] of byType) {
    expect(pieces.runEvent.safeParse(event).error).toBeUndefined();
    for (const changed of changedIn(event as unknown as { [name: string]: unknown }, 0)) {
      const { success } = pieces.runEvent.safeParse(changed);
      if (isRunEvent(changed) !== success)
        failed.set(`${type} by its form`, JSON.stringify(changed));
      if (!success) continue;
      try {
        read(changed as RunEvent);
      } catch (error) {
        failed.set(`${type}: ${String(error)}`, JSON.stringify(changed).slice(0, 2_000));
      }
    }
  }
  expect(Object.fromEntries(failed)).toEqual({});
});

test('an event of a type that this release does not know is read', () => {
  for (const body of [{}, { text: 5, calls: null, callId: 3, result: [] }]) {
    const event = { type: 'of_a_later_release', ...body, stamp: { seq: 0, turn: 0, at: 0 } };
    expect(() => read(event as unknown as RunEvent)).not.toThrow();
  }
});

const STAMP = { seq: 0, at: 0, turn: 0 };
const EVENTS: readonly unknown[] = [
  ...[0, 7, -1, 1.5, 1e300, '0', null, undefined].map((seq) => ({
    type: 'stop',
    stamp: { ...STAMP, seq },
  })),
  ...['', 'x'.repeat(1_000), 'x'.repeat(1_001), 5, undefined].map((type) => ({
    type,
    stamp: STAMP,
  })),
  null,
  5,
  'text',
  [],
  {},
  { type: 'stop' },
  { type: 'stop', stamp: [] },
];

test('Whether an event has a form is told without its schema as by its schema.', () => {
  expect(EVENTS.map(isRunEvent)).toEqual(
    EVENTS.map((event) => pieces.runEvent.safeParse(event).success),
  );
});

const HISTORY_EVENTS: readonly unknown[] = [
  ...['1', '10', '0', '01', '', '1 ', '1\n', '9'.repeat(10), '9'.repeat(11), 1, undefined].map(
    (eventId) => ({ eventId, eventType: 'EVENT_TYPE_TIMER_FIRED' }),
  ),
  ...['', 'x'.repeat(1_000), 'x'.repeat(1_001), 5, undefined].map((eventType) => ({
    eventId: '1',
    eventType,
  })),
  null,
  5,
  'text',
  [],
  {},
  { eventId: '1', eventType: 'any', more: [1] },
];

test('Whether an event of a history has a form is told without its schema as by its schema.', () => {
  expect(HISTORY_EVENTS.map(isHistoryEvent)).toEqual(
    HISTORY_EVENTS.map((event) => pieces.historyEvent.safeParse(event).success),
  );
});

const SEGMENT = { segment: 0, execution: 'e', source: 'store', events: [{}] };
const RUN = { tenant: 'default', runId: 'run_1' };
const VERSIONS = { exporter: '1', rules: 20, code: ['c'], frozen: { tool: '1' } };
const HEAD = {
  format: 'holdfast-bundle',
  v: 1,
  digest: '0f'.repeat(32),
  exportedAt: 5,
  run: RUN,
  versions: VERSIONS,
  redactions: [{ rule: 'r', markers: ['m'], places: ['p'], count: 1 }],
};
const PIECES: { readonly [piece in keyof typeof FORMS]: readonly { [name: string]: unknown }[] } = {
  run: [RUN],
  segment: [SEGMENT],
  alone: [HEAD, { ...HEAD, versions: { ...VERSIONS, rules: null } }],
  tree: [
    { ...HEAD, v: 2 },
    { ...HEAD, v: 2, absent: [{ runId: 'a', parent: 'p', reason: 'r' }] },
  ],
  member: [
    { parent: 'p', run: RUN, versions: VERSIONS },
    { parent: 'p', agentPath: ['a', 'b'], run: RUN, versions: VERSIONS },
  ],
};

test('A piece of a bundle that passes without its schema passes by its schema, whatever is changed in it.', () => {
  const failed: string[] = [];
  for (const piece of Object.keys(PIECES) as readonly (keyof typeof FORMS)[]) {
    for (const right of PIECES[piece]) {
      expect([piece, FORMS[piece](right), pieces[piece].safeParse(right).success]).toEqual([
        piece,
        true,
        true,
      ]);
      const others = [
        ...changedIn(right, 0),
        { ...right, more: 1 },
        { ...right, run: { ...RUN, more: 1 } },
        { ...right, exportedAt: 1.5 },
        { ...right, digest: '0F'.repeat(32) },
        { ...right, agentPath: Array(9).fill('a') },
        { ...right, segment: -1 },
        JSON.parse(`{"__proto__":1,${JSON.stringify(right).slice(1)}`) as object,
      ];
      const came = others.map((other) => JSON.parse(JSON.stringify(other)) as Json);
      const wrong = came.filter(
        (one) => FORMS[piece](one) && !pieces[piece].safeParse(one).success,
      );
      failed.push(...wrong.map((one) => `${piece}: ${JSON.stringify(one)}`));
    }
  }
  expect(failed).toEqual([]);
});
