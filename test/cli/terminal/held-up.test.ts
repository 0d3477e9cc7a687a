/** What a command says while it waits for a run that is not open. */
import type { HeldUp } from '../../../client/index.js';
import { heldUpRemarks } from '../../../cli/terminal/held-up.js';

const HELD: HeldUp = {
  runId: 'r1',
  heldBy: 'busy',
  message: 'Run r1 is started, but was not open after 8 s: all are busy.',
  hint: 'Start more workers.',
  waitedMs: 8_000,
};

test('a reason is told at once, again after a minute, and another one at once', () => {
  const said: string[] = [];
  const tell = heldUpRemarks({ remark: (text) => said.push(text) });
  const at = (waitedMs: number, over: Partial<HeldUp> = {}) => {
    said.length = 0;
    tell({ ...HELD, ...over, waitedMs });
    return said.length;
  };
  expect([at(8_000), at(16_000), at(67_000), at(68_000), at(76_000)]).toEqual([1, 0, 0, 1, 0]);
  expect(at(84_000, { heldBy: 'lost' })).toBe(1);
  expect(at(143_999, { heldBy: 'lost' })).toBe(0);
});

test('a remark says what holds the run up, what to do, and that the command waits on', () => {
  const said: string[] = [];
  heldUpRemarks({ remark: (text) => said.push(text) })(HELD);
  expect(said).toEqual([`${HELD.message} ${HELD.hint} The command waits on.`]);
});
