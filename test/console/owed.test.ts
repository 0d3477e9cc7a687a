/** Rows of the audit trail that wait while the store is away. */
import { owedRows } from '../../console/owed.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { AuditEntry } from '../../pure/audit.js';

const AWAY = {
  appendAudit: () => Promise.reject(new HoldfastError('StoreUnavailable', 'The store is away.')),
};
const ATTEMPTS = 3_000;

const entry = (kind: AuditEntry['kind']): AuditEntry =>
  ({ kind, at: 1, actor: 'ada', facts: {} }) as unknown as AuditEntry;

test('refused requests leave room for the rows of those who act', async () => {
  const rows = owedRows(AWAY, () => undefined);
  let refused = 0;
  for (let n = 0; n < ATTEMPTS; n += 1) {
    await rows.write('default', [entry('access_denied')]).catch(() => (refused += 1));
  }
  expect(refused).toBeGreaterThan(0);
  await expect(rows.write('default', [entry('interrupted')])).resolves.toBeUndefined();
  await expect(rows.write('default', [entry('access_denied')])).rejects.toThrow('Too many rows');
  await rows.stop();
});
