/** `holdfast list`, `approvals`, `grounds`, `show`, `transcript` and `audit list` on a store alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../../cli/program.js';
import type { EventBody } from '../../../core/state/event.js';
import { openStore, type Store } from '../../../store/store.js';
import { askView, eventsFrom, RESULT, SESSION_INIT } from '../../store/fixtures.js';

const ESCAPE = '\u001B[2J';

let folder: string;
let store: Store;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-lists-'));
  store = await openStore({ file: join(folder, 'store.db') });
  for (const [index, runId] of ['r0', 'r1', 'r2', 'r3', 'r4'].entries()) {
    const agent = index === 4 ? 'support' : 'refund';
    const { costMicroUsd: _, ...result } = RESULT;
    const ended: EventBody = {
      type: 'run_result',
      result: { ...result, costMicroUsd: index * 100 },
    };
    const view = askView(`${runId}:2`, { kind: 'input', question: 'Which?', args: {} });
    const asked: readonly EventBody[] = [
      askOf(`${runId}:1`, { orderId: `A-${index}`, note: `Müller ${ESCAPE}` }),
      { type: 'input_request', ...view },
    ];
    const bodies = [{ ...SESSION_INIT, agent } as EventBody, ...(index < 3 ? [ended] : asked)];
    await tell('default', runId, bodies);
  }
  await tell('other', 'theirs', [SESSION_INIT, askOf('theirs:1', { orderId: 'A-9' })]);
  const answered = { askId: 'asked:1', callId: 'ask', outcome: 'answered', by: ['cleo'] } as const;
  await tell('askers', 'asked', [
    SESSION_INIT,
    { type: 'input_request', ...askView('asked:1', { kind: 'input', callId: 'ask', args: {} }) },
    { type: 'input_provided', ...answered },
    ANSWER,
  ]);
  await tell('askers', 'late', [
    SESSION_INIT,
    { type: 'approval_requested', ...askView('late:1', { quorum: 2 }) },
    { type: 'approval_resolved', askId: 'late:1', outcome: 'expired', by: ['ana'], waitedMs: 9 },
  ]);
  await store.appendAudit('default', [
    { at: 1, kind: 'seen', by: 'mia', askId: 'r3:1', runId: 'r3', facts: {} },
  ]);
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const ANSWER: EventBody = {
  type: 'tool_finished',
  callId: 'ask',
  tool: 'ask_person',
  key: 'asked:1',
  status: 'ok',
  synthetic: false,
  started: false,
  attempts: 0,
  durationMs: 0,
  content: { text: `red ${ESCAPE}` },
};

function askOf(askId: string, args: Readonly<Record<string, string>>): EventBody {
  return { type: 'approval_requested', ...askView(askId, { args }) };
}

function tell(tenant: string, runId: string, bodies: readonly EventBody[]): Promise<unknown> {
  return store.appendEvents({ tenant, runId, execution: 'e' }, eventsFrom(0, bodies));
}

async function holdfast(...argv: readonly string[]) {
  let out = '';
  let err = '';
  const code = await runCli([...argv, '--store', join(folder, 'store.db')], {
    environment: {
      variables: {},
      folder,
      colour: false,
      interactive: false,
    },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

interface Listed {
  readonly runs?: readonly { readonly runId: string }[];
  readonly asks?: readonly { readonly askId: string }[];
  readonly next?: string;
}

async function listed(...argv: readonly string[]) {
  const { code, out } = await holdfast(...argv, '--json');
  expect(code).toBe(0);
  const { runs = [], asks = [], next } = JSON.parse(out) as Listed;
  return { ids: [...runs.map(({ runId }) => runId), ...asks.map(({ askId }) => askId)], next };
}

describe('holdfast list', () => {
  test.concurrent.each<[readonly string[], readonly string[]]>([
    [['list'], ['r4', 'r3', 'r2', 'r1', 'r0']],
    [
      ['runs', '--status', 'stopped'],
      ['r2', 'r1', 'r0'],
    ],
    [['list', '--agent', 'support'], ['r4']],
    [
      ['list', '--cost-from', '100'],
      ['r2', 'r1'],
    ],
    [['list', '--cost-from', '0.0001usd', '--cost-to', '$0.00015'], ['r1']],
    [
      ['list', '--cost-from', '0', '--cost-to', '100'],
      ['r1', 'r0'],
    ],
    [['list', '--agent', 'refund', '--status', 'awaiting_approval'], ['r3']],
    [['list', '--tenant', 'other'], ['theirs']],
    [['list', '--tenant', 'nobody'], []],
    [['list', '--since', '2400-02-29'], []],
  ])('%p gives %p', async (argv, ids) => {
    expect((await listed(...argv)).ids).toEqual(ids);
  });

  test('shows what open runs have cost so far, and of those that have ended what they cost', async () => {
    const attempt = { tenant: 'default', runId: 'r4', effectId: 'model:1' };
    const bounds = { boundCostMicroUsd: 9, boundInputTokens: 1, boundOutputTokens: 1 };
    await store.startAttempt({ ...attempt, ...bounds, kind: 'model', startedAt: 1 });
    const end = { outcome: 'ok', costMicroUsd: 1_500, estimated: false, finishedAt: 2 } as const;
    await store.finishAttempt({ ...attempt, attempt: 1, ...end });
    const { out } = await holdfast('list');
    expect(out).toMatch(/r4 .*\$0\.0015 so far/);
    // Found by a condition, which is how those that differ from a run are found.
    expect((await holdfast('list', '--text', 'refund')).out).toMatch(/r4 .*\$0\.0015 so far/);
    expect(out).toMatch(/r2 .*\$0\.0002  /);
    expect(out).not.toMatch(/r[0123] .*so far/);
  });

  test.concurrent(
    'goes on where a page has ended, and says where the next one begins',
    async () => {
      const first = await listed('list', '--limit', '2');
      expect(first).toEqual({ ids: ['r4', 'r3'], next: expect.any(String) });
      const second = await listed('list', '--limit', '2', '--cursor', first.next ?? '');
      expect(second.ids).toEqual(['r2', 'r1']);
      const last = await listed('list', '--limit', '2', '--cursor', second.next ?? '');
      expect(last).toEqual({ ids: ['r0'], next: undefined });
      const { err } = await holdfast('list', '--limit', '2');
      expect(err).toContain(`More follow: --cursor ${first.next}\n`);
    },
  );
});

test('a list by cost, which has no next page, says that more runs fit', async () => {
  const { out, err } = await holdfast('list', '--sort', 'cost', '--limit', '2');
  expect(out).toMatch(/r2 [^]*r1 /);
  expect(err).toContain('More runs fit');
  const told = await holdfast('list', '--sort', 'cost', '--limit', '2', '--json');
  expect(JSON.parse(told.out)).toMatchObject({ partial: true });
  const all = await holdfast('list', '--sort', 'cost', '--limit', '5', '--json');
  expect(JSON.parse(all.out)).not.toHaveProperty('partial');
});

describe('holdfast approvals', () => {
  test.concurrent.each<[readonly string[], readonly string[]]>([
    [['approvals'], ['r3:1', 'r3:2', 'r4:1', 'r4:2']],
    [
      ['inbox', '--kind', 'input'],
      ['r3:2', 'r4:2'],
    ],
    [['approvals', '--search', 'a-4'], ['r4:1']],
    [['approvals', '--search', 'MÜLLER', '--run', 'r3'], ['r3:1']],
    [['approvals', '--search', '%'], []],
    [['approvals', '--tenant', 'other'], ['theirs:1']],
  ])('%p gives %p', async (argv, ids) => {
    expect((await listed(...argv)).ids).toEqual(ids);
  });

  test.concurrent('goes on where a page has ended', async () => {
    const first = await listed('approvals', '--limit', '3');
    expect(first.ids).toEqual(['r3:1', 'r3:2', 'r4:1']);
    const second = await listed('approvals', '--limit', '3', '--cursor', first.next ?? '');
    expect(second).toEqual({ ids: ['r4:2'], next: undefined });
  });
});

describe('what a list cannot be asked for', () => {
  test.concurrent.each([
    ['list', '--cost-from', '-1'],
    ['list', '--cost-from', '0.5'],
    ['list', '--cost-from', '2.00'],
    ['list', '--cost-to', '1e999'],
    ['list', '--agent', ' '],
    ['list', '--cursor', 'nonsense'],
    ['list', '--limit', '1001'],
    ['list', '--tenant', 'a\u202Eb'],
    ['list', '--since', '2026-02-30'],
    ['list', '--until', '2026-02-29T09:30Z'],
    ['approvals', '--search', ''],
    ['approvals', '--search', 'x'.repeat(201)],
    ['approvals', '--kind', 'wish'],
    ['approvals', '--cursor', 'WzEsMl0'],
    ['approvals', '--limit', '0'],
    ['whoami'],
  ])('%p exits with 2, and says so in JSON', async (...argv) => {
    const { code, out, err } = await holdfast(...argv, '--json');
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(JSON.parse(out)).toMatchObject({
      error: { code: 'Usage', message: expect.any(String), hint: expect.any(String) },
    });
  });

  test('a tenant beside a token that names one', async () => {
    let err = '';
    const code = await runCli(['list', '--tenant', 'other'], {
      environment: {
        variables: { HOLDFAST_TOKEN: 'hf_service_x', HOLDFAST_DESK_URL: 'http://127.0.0.1:9' },
        folder,
        colour: false,
        interactive: false,
      },
      streams: { out: () => undefined, err: (text) => void (err += text) },
    });
    expect(code).toBe(2);
    expect(err).toContain('your token names your tenant');
  });
});

describe('one of them', () => {
  test.concurrent('a question shows what it rests on, without obeying it', async () => {
    const { code, out } = await holdfast('grounds', 'r3:1');
    expect(code).toBe(0);
    expect(out).toContain('A-3');
    expect(out).toContain('Refund order 7');
    expect(out).not.toContain('\u001B');
    expect((await holdfast('grounds', 'theirs:1')).code).toBe(1);
    const theirs = await holdfast('grounds', 'theirs:1', '--tenant', 'other', '--json');
    expect(JSON.parse(theirs.out)).toMatchObject({ ask: { askId: 'theirs:1' }, grounds: {} });
  });

  test.concurrent(
    'a question that was answered tells by whom, and grounds tell with what',
    async () => {
      const { out } = await holdfast('grounds', 'asked:1', '--tenant', 'askers');
      expect(out).toMatch(/\n {3}answered by cleo\n(.*\n)?Answer\n│ red /);
      expect(out).not.toContain('\u001B');
      const listed = await holdfast('approvals', '--all', '--tenant', 'askers');
      expect(listed.out).toContain('answered by cleo');
    },
  );

  test.concurrent('a question that expired names who had approved it', async () => {
    const { out } = await holdfast('grounds', 'late:1', '--tenant', 'askers');
    expect(out).toContain('   expired (only ana approved)\n');
    const told = await holdfast('grounds', 'late:1', '--tenant', 'askers', '--json');
    expect(JSON.parse(told.out)).toMatchObject({ ask: { by: [], approvedBy: ['ana'] } });
  });

  test.concurrent('a run is shown in its own tenant only', async () => {
    expect((await holdfast('show', 'r1')).out).toContain('Refund order 7');
    const theirs = await holdfast('show', 'theirs', '--tenant', 'other', '--json');
    expect(JSON.parse(theirs.out)).toMatchObject({ run: { tenant: 'other' }, asks: [{}] });
    expect((await holdfast('transcript', 'theirs')).code).toBe(1);
  });

  test.concurrent('the trail of a question', async () => {
    const { out } = await holdfast('audit', 'list', '--ask', 'r3:1', '--json');
    const { rows } = JSON.parse(out) as { rows: readonly { kind: string; by?: string }[] };
    expect(rows.map(({ kind, by = '' }) => [kind, by])).toContainEqual(['seen', 'mia']);
    expect((await holdfast('audit', 'list', '--tenant', 'nobody', '--json')).out).toBe(
      '{"rows":[]}\n',
    );
  });
});

test('list says below its table why a run should be looked at', async () => {
  const alarm: EventBody = { type: 'warning', code: 'cost_exploding', message: 'it doubles' };
  await tell('other', 'growing', [SESSION_INIT, alarm]);
  const { out, err } = await holdfast('list', '--tenant', 'other');
  expect(out + err).toContain('growing: it doubles.');
  const listed = JSON.parse((await holdfast('list', '--tenant', 'other', '--json')).out) as {
    readonly runs: readonly { readonly runId: string; readonly alarm?: string }[];
  };
  expect(listed.runs.find(({ runId }) => runId === 'growing')?.alarm).toBe('it doubles');
});
