/** `holdfast failures` and the conditions of `holdfast list`, on a store alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../../cli/program.js';
import type { Failures } from '../../../client/read/failures.js';
import type { EventBody } from '../../../core/state/event.js';
import type { RunResult } from '../../../core/state/result.js';
import { openStore, type Store } from '../../../store/store.js';
import { eventsFrom, RESULT, SESSION_INIT } from '../../store/fixtures.js';

const DAY_MS = 86_400_000;
const NOW = Date.now();

let folder: string;
let store: Store;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-failures-'));
  store = await openStore({ file: join(folder, 'store.db') });
  await ended('paid', 1, {
    stopReason: 'completed',
    completed: true,
    answer: { text: 'Refunded O-17.' },
  });
  await ended('slow-1', 1, TOOL_FAILURE, [failedCall('timeout')]);
  await ended('slow-2', 2, { ...TOOL_FAILURE, costMicroUsd: 50 }, [failedCall('timeout')]);
  await ended('broken', 2, TOOL_FAILURE, [failedCall('timeout'), failedCall('execution_error')]);
  await ended('dear', 3, {
    versions: { agent: '1' },
    costMicroUsd: 9_000,
    counters: { ...RESULT.counters, turnCount: 7, waitingMs: 90_000 },
  });
  await ended('long-ago', 20, TOOL_FAILURE, [failedCall('timeout')]);
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const TOOL_FAILURE: Partial<RunResult> = {
  stopReason: 'tool_failure',
  detail: 'tool_errors',
  costMicroUsd: 100,
};

function failedCall(code: 'timeout' | 'execution_error'): EventBody {
  return {
    type: 'tool_finished',
    callId: 'c1',
    tool: 'orders.read',
    status: 'error',
    code,
    content: { text: 'no' },
    synthetic: false,
    started: true,
    attempts: 1,
    durationMs: 1,
    key: 'k',
  };
}

async function ended(
  runId: string,
  daysAgo: number,
  changes: Partial<RunResult>,
  calls: readonly EventBody[] = [],
): Promise<void> {
  const result = { ...RESULT, runId, ...changes };
  const { stopReason: reason, detail } = result;
  const stop: EventBody = {
    type: 'stop',
    reason,
    by: 'calls settled',
    ...(detail !== undefined && { detail }),
  };
  const init = { ...SESSION_INIT, rules: daysAgo === 3 ? 16 : 15 } as EventBody;
  const bodies = [init, ...calls, stop, { type: 'run_result', result } as EventBody];
  await store.appendEvents(
    { tenant: 'default', runId, execution: 'e' },
    eventsFrom(0, bodies, NOW - daysAgo * DAY_MS),
  );
}

async function holdfast(...argv: readonly string[]) {
  let [out, err] = ['', ''];
  const code = await runCli([...argv, '--store', join(folder, 'store.db')], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

async function listed(...argv: readonly string[]): Promise<readonly string[]> {
  const { code, out } = await holdfast('list', ...argv, '--json');
  expect(code).toBe(0);
  return (JSON.parse(out) as { runs: { runId: string }[] }).runs.map(({ runId }) => runId);
}

test('runs that ended alike are one group, with count, cost and the newest of them', async () => {
  const { code, out } = await holdfast('failures', '--json');
  expect(code).toBe(0);
  const found = JSON.parse(out) as Failures;
  expect(found).toMatchObject({ ended: 5, failed: 4, truncated: false });
  const ends = { stopReason: 'tool_failure', detail: 'tool_errors', rule: 'calls settled' };
  expect(found.groups).toMatchObject([
    {
      ...ends,
      tool: 'orders.read',
      code: 'timeout',
      count: 2,
      costMicroUsd: 150,
      newest: { runId: 'slow-1' },
    },
    {
      ...ends,
      tool: 'orders.read',
      code: 'execution_error',
      count: 1,
      newest: { runId: 'broken' },
    },
    { stopReason: 'max_cost', tool: null, code: null, count: 1, newest: { runId: 'dear' } },
  ]);
  expect(found.groups[0]!.over.reduce((sum, one) => sum + one)).toBe(2);
});

test('--since says how far back is looked; a time that is none is refused', async () => {
  const all = JSON.parse((await holdfast('failures', '--since', '30d', '--json')).out) as Failures;
  expect(all.groups[0]).toMatchObject({ count: 3 });
  expect((await holdfast('failures', '--since', '1h')).out).toContain('No run has failed since');
  expect(await holdfast('failures', '--since', 'yesterday')).toMatchObject({ code: 2 });
});

test('the table names the group and its newest run', async () => {
  const { out } = await holdfast('failures');
  expect(out).toMatch(/2\s+tool_failure: tool_errors\s+calls settled\s+orders\.read timeout/);
});

test.each<[string, readonly string[], readonly string[]]>([
  ['stop reason', ['--stop-reason', 'max_cost'], ['dear']],
  ['detail', ['--detail', 'tool_'], ['slow-1', 'broken', 'slow-2', 'long-ago']],
  ['code of an error', ['--error-code', 'execution_error'], ['broken']],
  ['tool', ['--tool', 'orders.read', '--since', '36h'], ['slow-1']],
  ['rules', ['--rules', '16'], ['dear']],
  ['version', ['--version', '1', '--stop-reason', 'max_cost'], ['dear']],
  ['turns', ['--turns-from', '5'], ['dear']],
  ['waiting time', ['--waiting-from', '1m'], ['dear']],
  ['text of the answer', ['--text', 'o-17'], ['paid']],
  ['text of the goal', ['--goal', 'ORDER 7', '--until', '10d'], ['long-ago']],
  ['order', ['--sort', 'cost', '--limit', '2'], ['dear', 'paid']],
])('runs are found by %s', async (_what, argv, ids) => {
  const found = await listed(...argv);
  expect([...found].toSorted()).toEqual([...ids].toSorted());
  if (argv.includes('--sort')) expect(found).toEqual(ids);
});

test('a page of found runs says where the next one begins', async () => {
  const first = await holdfast('list', '--detail', 'tool_', '--limit', '3', '--json');
  const { next } = JSON.parse(first.out) as { next: string };
  expect(await listed('--detail', 'tool_', '--limit', '3', '--cursor', next)).toEqual(['long-ago']);
});

test('an order that there is not is refused', async () => {
  expect(await holdfast('list', '--sort', 'beauty')).toMatchObject({ code: 2 });
});
