/** What a row of the ledger says of an attempt that somebody asks about. */
import { decideReconcile, type LedgerRow } from '../../../pure/ledger.js';

const CALL = { runId: 'r1', digest: 'd1', attempt: 1 };
const VOID = {
  runId: 'r1',
  argsDigest: 'd1',
  attempt: 1,
  state: 'void',
  wasClaimed: false,
  claimedUntil: 0,
} as LedgerRow;

test('an attempt that was taken away before anybody had claimed it did not happen', () => {
  expect(decideReconcile(VOID, CALL, 1)).toEqual({ kind: 'not_happened' });
});

test('an attempt that somebody had claimed is asked about', () => {
  expect(decideReconcile({ ...VOID, wasClaimed: true }, CALL, 1)).toEqual({ kind: 'probe' });
});

test('a row of a later attempt clears no earlier one: a reset has gone back behind it', () => {
  expect(decideReconcile({ ...VOID, attempt: 2 }, CALL, 1)).toEqual({ kind: 'probe' });
});
