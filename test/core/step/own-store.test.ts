/** The store of a run: what an activity says of the one that it met, and what an older copy of it leaves open. */
import type { OpenRun } from '../../../core/state/run.js';
import type { ReturnedStage } from '../../../core/state/call.js';
import { CHANGES } from '../../../core/step/changes.js';
import { metStore, precedesStore, saidClaimed } from '../../../core/step/own-store.js';
import { says } from '../script.js';
import { createShell, until } from '../shell.js';

function opened(more: object = {}): OpenRun {
  const shell = createShell({ model: [says('done')] });
  until(shell, 'session_init');
  return { ...(shell.run as OpenRun), ...more };
}

const warned = (run: OpenRun): readonly string[] =>
  run.outbox.events.flatMap((event) => (event.type === 'warning' ? [event.code] : []));

test('a run that knows no store learns of none', () => {
  const { store: _, ...run } = opened();
  expect(metStore(run as OpenRun, { id: 'b', epoch: 9 })).toBe(run);
});

test.each([
  ['a', 2, undefined, []],
  ['a', 1, undefined, []],
  ['a', 3, 3, ['store_restored']],
  ['b', 1, 1, ['run_adopted']],
  ['b', 9, 9, ['run_adopted']],
])('a run of the store a, epoch 2, meets %s, epoch %i', (id, epoch, now, codes) => {
  const run = opened({ store: { id: 'a', epoch: 2 } });
  const met = metStore(run, { id, epoch });
  if (now === undefined) expect(met).toBe(run);
  else expect(met.store).toEqual({ id, epoch: now, since: run.now });
  expect(warned(met)).toEqual([...warned(run), ...codes]);
});

test('a call that was handed over when the store changed, or before, precedes it', () => {
  const run = opened({ store: { id: 'a', epoch: 3, since: 100 } });
  expect([99, 100, 101].map((startedAt) => precedesStore(run, { startedAt }))).toEqual([
    true,
    true,
    false,
  ]);
  expect(precedesStore(opened({ store: { id: 'a', epoch: 3 } }), { startedAt: 1 })).toBe(false);
});

describe('a claim that was told of', () => {
  const call = (fact: object) => ({ attempt: 2, fact }) as unknown as ReturnedStage;
  const failed = (claimed?: number) => call({ kind: 'failure', failure: { claimed } });
  const ended = (kind: string, claimed?: number) =>
    call({ kind: 'outcome', outcome: { kind, claimed } });

  test('is that of this attempt', () => {
    const run = opened();
    expect([1, 2, 3, undefined].map((one) => saidClaimed(run, failed(one)))).toEqual([
      false,
      true,
      false,
      false,
    ]);
    expect(saidClaimed(run, ended('ambiguous', 2))).toBe(true);
    expect(saidClaimed(run, ended('ambiguous', 1))).toBe(false);
    expect(saidClaimed(run, ended('ok', 2))).toBe(false);
    expect(
      saidClaimed(run, call({ kind: 'finding', outcome: { kind: 'ambiguous', claimed: 2 } })),
    ).toBe(false);
  });

  test('counts under the rules that know it', () => {
    const before = (name: 'ownStore' | 'claimInDoubt') =>
      opened({ rules: CHANGES[name].since - 1 });
    expect(saidClaimed(before('ownStore'), failed(2))).toBe(false);
    expect(saidClaimed(before('claimInDoubt'), failed(2))).toBe(true);
    expect(saidClaimed(before('claimInDoubt'), ended('ambiguous', 2))).toBe(false);
  });
});
