/** Who had approved a question that expired. */
import { approvedBefore } from '../../console/receipt.js';
import type { RunEvent } from '../../core/state/event.js';
import type { AskRow } from '../../store/asks.js';

const ASK = { tenant: 'default', runId: 'run', askId: 'run:0', kind: 'approval', quorum: 2 };
const resolved = { type: 'approval_resolved', askId: 'run:0', outcome: 'expired', by: ['ana'] };

function endAfter(ask: object, ...events: readonly object[]) {
  const told = events as readonly RunEvent[];
  const reads = jest.fn(async () => ({ events: told, nextSeq: 9, epoch: 0 }));
  const store = { openedSeq: async () => 0, readEvents: reads as never };
  return { end: approvedBefore(store, { ...ASK, ...ask } as AskRow), reads };
}

test('of a question that expired it names those who had approved', async () => {
  const other = { ...resolved, askId: 'run:1', by: ['bob'] };
  const { end } = endAfter({ outcome: 'expired' }, other, resolved);
  expect(await end).toEqual({ approvedBy: ['ana'] });
  expect(await endAfter({ outcome: 'expired' }, { ...resolved, by: [] }).end).toEqual({});
});

test.each([{ outcome: 'pending' }, { outcome: 'approved' }, { outcome: 'expired', quorum: 1 }])(
  'of %j no event is read',
  async (ask) => {
    const { end, reads } = endAfter(ask, resolved);
    expect(await end).toEqual({});
    expect(reads).not.toHaveBeenCalled();
  },
);
