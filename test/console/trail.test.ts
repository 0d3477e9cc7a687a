/** What counts as seen. */
import type { AuditEntry } from '../../pure/audit.js';
import type { Desk } from '../../console/desk.js';
import type { Person } from '../../console/identity/person.js';
import { views } from '../../console/trail.js';

const ASK = { askId: 'r1:0', runId: 'r1', argsHash: 'a', policyVersion: 'p' };
const MIA: Person = { tenant: 't', id: 'mia', name: 'Mia', roles: [], via: 'jwt' };

test('a question is seen once by each person, and again when it asks about another action', async () => {
  const told: AuditEntry[] = [];
  const store = {
    appendAudit: async (_: string, entries: readonly AuditEntry[]) => void told.push(...entries),
  };
  const desk = { store, clock: () => 1 } as unknown as Desk;
  const seen = views();
  await seen.note(desk, MIA, [ASK]);
  await seen.note(desk, MIA, [ASK]);
  await seen.note(desk, { ...MIA, id: 'ann' }, [ASK]);
  await seen.note(desk, MIA, [{ ...ASK, argsHash: 'b' }]);
  expect(told.map(({ by, facts }) => [by, facts.argsHash])).toEqual([
    ['mia', 'a'],
    ['ann', 'a'],
    ['mia', 'b'],
  ]);
});

test('requests at once that show the same question wait for one row', async () => {
  const told: AuditEntry[] = [];
  const written: (() => void)[] = [];
  const store = {
    appendAudit: async (_: string, entries: readonly AuditEntry[]) => {
      told.push(...entries);
      await new Promise<void>((resolve) => written.push(resolve));
    },
  };
  const desk = { store, clock: () => 1 } as unknown as Desk;
  const seen = views();
  let shown = 0;
  const looks = [1, 2, 3].map(() => seen.note(desk, MIA, [ASK]).then(() => (shown += 1)));
  await Promise.resolve();
  expect(shown).toBe(0);
  for (const done of written) done();
  await Promise.all(looks);
  expect(told).toHaveLength(1);
});
