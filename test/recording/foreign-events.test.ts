/** Events of a bundle that were written by somebody else: those that pass the form are explained and compared without an error. */
import type { Json } from '../../core/json/json.js';
import type { RunEvent } from '../../core/state/event.js';
import { explainRun } from '../../pure/explain.js';
import { keptHistories, readKept } from '../../lab/seal/kept-histories.js';
import { diffOf } from '../../recording/diff.js';
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
      if (!pieces.runEvent.safeParse(changed).success) continue;
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
