/** What a live fork knows of the runs around the one that it began from. */
import { callsInFile, readInTime } from '../../evaluation/fork/calls-below.js';
import type { Bundle, Member } from '../../replay/bundle.js';

const run = (runId: string) => ({ run: { tenant: 'default', runId }, segments: [], events: [] });
const member = (runId: string, parent: string) => ({ ...run(runId), parent }) as unknown as Member;
const absent = (runId: string, parent: string) => ({ runId, parent, reason: 'gone' as const });

function file(runId: string, tree: Partial<Bundle>): Bundle {
  return { ...run(runId), ...tree } as unknown as Bundle;
}

const REFUSED = { code: 'ForkRefused' };

test('a file that lacks any run of its tree is not forked live: not for those below the run, nor for those beside it', () => {
  const members = [member('R:a1', 'R')];
  const whole = file('R', { members });
  const lacking = file('R', { members, absent: [absent('R:a2', 'R')] as Bundle['absent'] });
  for (const runId of ['R', 'R:a1']) {
    expect(callsInFile(whole, runId)).toEqual([]);
    expect(() => callsInFile(lacking, runId)).toThrow(
      expect.objectContaining({ ...REFUSED, message: expect.stringContaining('R:a2') }),
    );
  }
});

test('a file that begins at a sub-agent or a cycle is not forked live, with runs below it or without', () => {
  for (const runId of ['R:a1', 'G:c2', 'R:h1']) {
    for (const tree of [{}, { members: [member(`${runId}:a1`, runId)] }]) {
      const begun = file(runId, tree);
      expect(() => callsInFile(begun, runId)).toThrow(expect.objectContaining(REFUSED));
    }
  }
  expect(callsInFile(file('R', {}), 'R')).toBeUndefined();
});

test('reading the runs below one ends in time, and says how far it came', async () => {
  const rows = ['one', 'two', 'three'];
  expect(await readInTime(rows, 60_000, (row) => Promise.resolve([row, row]))).toHaveLength(6);
  let read = 0;
  const slow = readInTime(rows, 20, async () => {
    read += 1;
    await new Promise((next) => setTimeout(next, 30));
    return [];
  });
  await expect(slow).rejects.toMatchObject({
    ...REFUSED,
    message: expect.stringContaining('1 of 3'),
  });
  expect(read).toBe(1);
});
