/** Which runs a page of a list has that the store and Temporal tell together, and how they stand. */
import {
  asItStands,
  isOfPage,
  othersWanted,
  pageOf,
  unopenedRow,
  type ListQuery,
} from '../../../client/read/joined-page.js';
import { executionsQuery } from '../../../client/read/visibility-query.js';
import type { RunRow } from '../../../store/runs.js';

const unopened = unopenedRow({ tenant: 'default', runId: 'new', agent: 'clerk', startedAt: 5 });
const row = (runId: string, startedAt: number, over: Partial<RunRow> = {}): RunRow => ({
  ...unopened,
  runId,
  startedAt,
  lastSeq: 3,
  ...over,
});
const names = (rows: readonly { readonly runId: string }[]) => rows.map(({ runId }) => runId);
/** Of the first page, unless it says more. */
const query = (over: Partial<ListQuery> = {}): ListQuery => ({ limit: 2, ...over });

describe('how a run stands', () => {
  const waiting = row('r', 1, { status: 'awaiting_approval' });

  test('one that Temporal ended stands as Temporal says, whatever it said last', () => {
    expect(asItStands(waiting, 'terminated')).toEqual([{ ...waiting, status: 'terminated' }]);
    expect(asItStands(waiting, 'timed_out')).toEqual([{ ...waiting, status: 'timed_out' }]);
  });

  test('one that ended by itself while the store, an older copy, has no result of it stands as it said itself', () => {
    const ended = { ...waiting, status: 'stopped', notStored: true };
    expect(asItStands(waiting, { own: 'stopped' })).toEqual([ended]);
    expect(asItStands(unopened, { own: 'completed' })).toEqual([]);
  });

  test('one whose result came into the store meanwhile stands as the store has it', () => {
    const stored = row('r', 1, { status: 'completed', result: {} as RunRow['result'] });
    expect(asItStands(stored, { own: 'completed' })).toEqual([stored]);
    expect(asItStands(stored, 'terminated')).toEqual([stored]);
  });

  test('one that goes on, or that nobody was asked about, stands as the store has it', () => {
    expect(asItStands(waiting, 'open')).toEqual([waiting]);
    expect(asItStands(waiting, undefined)).toEqual([waiting]);
  });

  test('one that Temporal knows no more is told with the word of the store, as unknown', () => {
    expect(asItStands(waiting, 'unknown')).toEqual([{ ...waiting, unknown: true }]);
  });

  test('one that the store has nothing of is told while it goes on or when Temporal ended it, and else not', () => {
    expect(asItStands(unopened, 'open')).toEqual([unopened]);
    expect(asItStands(unopened, 'terminated')).toHaveLength(1);
    expect(asItStands(unopened, 'completed')).toEqual([]);
    expect(asItStands(unopened, 'unknown')).toEqual([]);
  });
});

describe('a page', () => {
  test('has the newest runs first, those of the same moment by their ids, and goes on where it was cut', () => {
    const { rows, next } = pageOf([row('a', 1), row('b', 2), row('c', 2)], query(), undefined);
    expect(names(rows)).toEqual(['c', 'b']);
    expect(next).toEqual({ startedAt: 2, runId: 'b' });
  });

  test('that was not cut goes on where the store has more, and is else the last', () => {
    const end = { startedAt: 1, runId: 'a' };
    expect(pageOf([row('b', 2)], query(), end).next).toEqual(end);
    expect(pageOf([row('b', 2)], query(), undefined)).not.toHaveProperty('next');
  });

  test('has no run that stands otherwise than is asked for', () => {
    const ended = { ...row('a', 2), status: 'terminated' as const };
    const open = row('b', 1);
    expect(names(pageOf([ended, open], query({ status: 'running' }), undefined).rows)).toEqual([
      'b',
    ]);
    expect(names(pageOf([ended, open], query({ status: 'terminated' }), undefined).rows)).toEqual([
      'a',
    ]);
  });

  test('takes a run of Temporal only within its window, so that it is on one page alone', () => {
    const [newer, end] = [row('m', 9), row('m', 3)];
    const isOn = (runId: string, at: number) =>
      isOfPage(row(runId, at), query({ before: newer }), end);
    expect([isOn('l', 9), isOn('n', 3), isOn('m', 3)]).toEqual([true, true, true]);
    expect([isOn('m', 9), isOn('n', 9), isOn('l', 3), isOn('z', 2)]).toEqual(
      Array.from({ length: 4 }, () => false),
    );
    expect(isOfPage(row('z', 1), query({ before: newer }), undefined)).toBe(true);
  });

  test('takes a run of Temporal only if it is what the list lists', () => {
    const fits = (over: Partial<RunRow>, asked: Partial<ListQuery>) =>
      isOfPage(row('r', 1, over), query(asked), undefined);
    expect(fits({ kind: 'goal' }, {})).toBe(false);
    expect(fits({ kind: 'goal' }, { kind: 'goal' })).toBe(true);
    expect(fits({}, { agent: 'other' })).toBe(false);
    expect(fits({ agent: 'other' }, { agent: 'other' })).toBe(true);
    expect(fits({ root: 'x' }, { root: 'y' })).toBe(false);
    expect(fits({ forked: { runId: 'x', step: 1 } }, { forksOf: 'x' })).toBe(true);
  });
});

describe('what Temporal is asked for beside the runs of a page', () => {
  const end = { startedAt: 1_000, runId: 'a' };

  test('a list of all asks for what runs and for what Temporal ended, of the time of its page', () => {
    expect(othersWanted(query({ before: { startedAt: 2_000, runId: 'b' } }), end)).toEqual({
      running: true,
      ends: ['terminated', 'timed_out', 'failed', 'cancelled'],
      from: 1_000,
      to: 2_000,
    });
  });

  test('a list of what Temporal ended asks for that whenever it began: its last segment began later', () => {
    const wanted = query({ status: 'timed_out', agent: 'clerk', before: end });
    expect(othersWanted(wanted, undefined)).toEqual({ ends: ['timed_out'], agent: 'clerk' });
  });

  test('a list by what only the store knows asks for nothing else', () => {
    for (const over of [
      { status: 'awaiting_approval' },
      { costFrom: 1 },
      { stopReason: 'max_cost' },
      { root: 'r' },
      { tool: 'pay' },
    ] as const) {
      expect(othersWanted(query(over), end)).toBeUndefined();
    }
  });
});

describe('the question to Temporal', () => {
  const place = { tenant: 'default', listed: 'run' as const };

  test('names the runs of the page whenever they began, and no segment that another one continues', () => {
    expect(executionsQuery({ ...place, runIds: ['a', "b'c"] })).toBe(
      "WorkflowType = 'agentRun' AND HoldfastTenant = 'default' AND " +
        "((WorkflowId IN ('a', 'b\\'c') AND ExecutionStatus != 'ContinuedAsNew'))",
    );
  });

  test('names others by how they stand, by their agent and by the milliseconds of their start', () => {
    const others = { running: true, ends: ['cancelled'], agent: 'clerk', from: 0, to: 5 } as const;
    expect(executionsQuery({ ...place, runIds: [], others })).toBe(
      "WorkflowType = 'agentRun' AND HoldfastTenant = 'default' AND " +
        "((ExecutionStatus IN ('Running', 'Canceled') AND HoldfastAgent = 'clerk' AND " +
        "StartTime >= '1970-01-01T00:00:00.000Z' AND StartTime < '1970-01-01T00:00:00.006Z'))",
    );
    expect(executionsQuery({ ...place, runIds: ['a'], others })).toContain(') OR (');
  });

  test('a time that a calendar of four digits does not have is none of an error', () => {
    const others = { ends: [], from: -1, to: Number.MAX_SAFE_INTEGER, running: true } as const;
    const asked = executionsQuery({ ...place, runIds: [], others });
    expect(asked).toContain("StartTime >= '1970-01-01T00:00:00.000Z'");
    expect(asked).toContain("StartTime < '9999-01-01T00:00:00.000Z'");
  });
});
