import type { RunEvent } from '../../core/state/event.js';
import { WARNINGS, type WarningCode } from '../../core/state/warning.js';
import { auditOf } from '../../pure/audit-events.js';

function warningOf(code: string): RunEvent {
  return {
    type: 'warning',
    code: code as WarningCode,
    message: 'as it was said',
    stamp: { seq: 3, runId: 'r', traceId: 't', at: 5, phase: 'validating', step: 1, turn: 1 },
  };
}

const codes = Object.keys(WARNINGS);

/** What came from outside, by how its codes are named. */
const FROM_OUTSIDE =
  /^(decision_|approval_|correction_refused|input_ignored|rejected_|permission_mode|goal_message_)/;

test.each(codes)('a warning %s is in the audit trail when something came from outside', (code) => {
  const kind = code === 'permission_mode' ? 'mode_changed' : 'ignored';
  const facts = { event: 3, code, message: 'as it was said' };
  expect(auditOf(warningOf(code))).toEqual(
    FROM_OUTSIDE.test(code) ? [{ at: 5, kind, runId: 'r', facts }] : [],
  );
});

test.each(['of_tomorrow', 'toString'])(
  'a code that is not known here, %s, is in no trail',
  (code) => {
    expect(auditOf(warningOf(code))).toEqual([]);
  },
);
