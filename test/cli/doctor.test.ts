/** What doctor finds, what it cannot look at, and what it says of runs that do not get on. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allChecks } from '../../cli/doctor/all-checks.js';
import { askedLately } from '../../cli/doctor/asked-lately.js';
import type { Check } from '../../cli/doctor/check.js';
import { checkConfiguration } from '../../cli/doctor/configuration.js';
import { standingOf } from '../../cli/commands/explain.js';
import { lostWords } from '../../cli/commands/show.js';
import { stuckFound } from '../../cli/doctor/server.js';
import { checkStore, restored } from '../../cli/doctor/store.js';
import { mendWait, mendWaitNow, waitLine } from '../../cli/render/index.js';
import { withSession } from '../../cli/session.js';
import type { EventBody } from '../../core/state/event.js';
import { createDeskKey, type HoldfastClient, type StuckRun } from '../../client/index.js';
import { ALL_TENANTS } from '../../store/desk-keys.js';
import { openStore } from '../../store/store.js';
import { readEnvironment } from '../../worker/config.js';
import { askView, eventsFrom, RESULT, SESSION_INIT } from '../store/fixtures.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-doctor-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const keyFile = () => join(folder, 'desk-key.json');
/** Without the disk of whoever runs the tests, which may be slow (doctor-disk.test.ts). */
const found = async () => {
  const checks = await checkStore(readEnvironment({ HOLDFAST_HOME: folder }, folder), keyFile());
  return checks.filter(({ name }) => name !== 'disk');
};

test('questions that a webhook was not told of in the end are a warning while they are open', async () => {
  const store = await openStore({ file: join(folder, 'store.db') });
  const asked = { type: 'approval_requested', ...askView('r1:0') } as const;
  const source = { tenant: 'default', runId: 'r1', execution: 'e1' };
  await store.appendEvents(source, eventsFrom(0, [SESSION_INIT, asked]));
  await store.openNotices({ target: 'ops', at: 1, limit: 9 });
  expect(await found()).toMatchObject([{ name: 'store', status: 'ok' }]);
  const [name] = await store.dueNotices({ target: 'ops', at: 1, limit: 9 });
  const claimed = await store.claimNotice(name!, { by: 'a', at: 1, until: 2 });
  await store.settleNotice(claimed!, { state: 'given_up', fault: 'status 410' });
  expect(await found()).toMatchObject([
    { name: 'store', status: 'ok' },
    { name: 'notifications', status: 'warning', found: expect.stringMatching(/^1 were given up/) },
  ]);
  await store.close();
});

test('a key of the desk that nobody trusts, or that was revoked, is a warning with what to do', async () => {
  const store = await openStore({ file: join(folder, 'store.db') });
  const { key } = await createDeskKey(keyFile());
  const change = { tenant: ALL_TENANTS, at: 1, by: 'op' };
  const ofKey = (mend: string) => [
    { name: 'store', status: 'ok' },
    { name: 'desk key', status: 'warning', mend: expect.stringContaining(mend) },
  ];
  expect(await found()).toMatchObject(ofKey('holdfast keys trust'));
  await store.addDeskKey({ ...change, ...key });
  expect(await found()).toMatchObject([{ name: 'store', status: 'ok' }]);
  await store.changeDeskKey({ ...change, kid: key.kid, to: 'revoked' });
  expect(await found()).toMatchObject(ofKey('holdfast keys rotate'));
  await store.close();
});

test('segments that are not archived are warnings with since when, and lost ones say so', async () => {
  const store = await openStore({ file: join(folder, 'store.db') });
  const name = (segment: number) => ({
    tenant: 'default',
    runId: 'r1',
    segment,
    execution: `e${segment}`,
    namespace: 'default',
  });
  const at = Date.now() - 3_600_000;
  await store.openArchival(name(0), at);
  await store.openArchival(name(1), at);
  await store.openArchival(name(2), Date.now());
  const claimed = await store.claimArchival(name(0), { at, until: at + 1 });
  await store.settleArchival(claimed!, { state: 'history_lost', fault: 'not found', at });
  expect(await found()).toMatchObject([
    { name: 'store', status: 'ok' },
    {
      name: 'archive',
      status: 'warning',
      found: 'not archived for 1 h: run r1, segment 1',
      mend: expect.stringContaining('holdfast export'),
    },
    {
      name: 'archive',
      status: 'warning',
      found: expect.stringMatching(/^history_lost: .*run r1, segment 0 .*: not found$/),
      mend: expect.stringContaining('retention'),
    },
  ]);
  await store.close();
});

test('runs whose turns keep doubling are warnings, those under way by name', async () => {
  const store = await openStore({ file: join(folder, 'store.db') });
  const alarm = { type: 'warning', code: 'cost_exploding', message: 'the cost doubles' } as const;
  const ended = { type: 'run_result', result: RESULT } as const;
  const tell = (runId: string, bodies: readonly EventBody[], clock: number) =>
    store.appendEvents(
      { tenant: 'default', runId, execution: 'e' },
      eventsFrom(0, [SESSION_INIT, ...bodies], clock),
    );
  await tell('old', [alarm], 1_000);
  await tell('fine', [], Date.now());
  await tell('ended', [alarm, ended], Date.now());
  await tell('under-way', [alarm], Date.now());
  expect(await found()).toMatchObject([
    { name: 'store', status: 'ok' },
    {
      name: 'growing runs',
      status: 'warning',
      found: 'under-way: the cost doubles',
      mend: expect.stringContaining('holdfast interrupt under-way'),
    },
    {
      name: 'growing runs',
      status: 'warning',
      found: expect.stringMatching(/^1 more .*, 1 of them ended/),
    },
  ]);
  await store.close();
});

test('a rule that matches no tool is a warning with what was meant', async () => {
  const authoring = JSON.stringify(join(__dirname, '../../authoring/index.ts'));
  const rules = [{ tool: 'ask_persn', decision: 'deny' }];
  const agent = { name: 'a', model: 'scripted/x', instructions: 'Help.', policy: { rules } };
  writeFileSync(
    join(folder, 'holdfast.config.ts'),
    `import { askPerson, defineAgent, defineConfig } from ${authoring};
    const agent = defineAgent({ ...${JSON.stringify(agent)}, tools: [askPerson] });
    export const config = defineConfig({ agents: [agent], scripted: () => ({ text: 'Yes.' }) });`,
  );
  const place = readEnvironment({ HOLDFAST_HOME: folder }, folder);
  const where = { place, folder, namespace: 'default', served: false };
  expect(await checkConfiguration(where)).toMatchObject([
    { name: 'configuration', status: 'ok' },
    {
      name: 'definitions',
      status: 'warning',
      found: expect.stringMatching(/policy\.rules\[0\] is "ask_persn".* Did you mean ask_person\?/),
      mend: 'Correct it. Before a rule is taken out, look at what it was to stop.',
    },
    { name: 'model key', status: 'ok' },
  ]);
});

test('workers are told with when they asked last, as a dead one is counted too', () => {
  const now = 1_795_000_000_000;
  const worker = (number: number) => ({
    identity: `${number}@here`,
    askedAt: now - number * 1_000,
  });
  expect(askedLately([worker(43), worker(4)], now)).toBe(
    '2 asked for work in the last 90 s (4@here 4 s ago, 43@here 43 s ago); one that died since is still counted',
  );
  const many = Array.from({ length: 7 }, (_, number) => worker(number));
  expect(askedLately(many, now)).toMatch(/^7 asked .*4@here 4 s ago, 2 more\)/);
  expect(askedLately([worker(-2)], now)).toMatch(/ 0 s ago/);
});

describe('what needs something that is broken', () => {
  const FACTS = { serverVersion: '1.0.0', retentionMs: 9e9, missingAttributes: [] };
  const client = {
    address: 'here:1',
    namespace: 'default',
    taskQueue: 'q',
    namespaceFacts: () => Promise.resolve(FACTS),
    pollers: () => Promise.resolve([{ identity: '1@here', askedAt: Date.now() }]),
    stuckRuns: () => Promise.resolve([]),
  } as unknown as HoldfastClient;

  /** What doctor says where `holdfast` has this server, each name once. */
  async function said(found: () => Promise<HoldfastClient>): Promise<ReadonlyMap<string, Check>> {
    const variables = { HOLDFAST_HOME: folder };
    const environment = { folder, variables, colour: false, interactive: false };
    return withSession(environment, {}, async (session) => {
      const { place, named } = session;
      const premises = { place, folder, keyFile: keyFile(), addressGiven: true };
      const checks = await allChecks({ place, named, clientWithoutStore: found }, premises);
      return new Map(checks.map((check) => [check.name, check]));
    });
  }

  test('a server is asked although the store is broken', async () => {
    writeFileSync(join(folder, 'store.db'), 'no database at all, only a text'.repeat(100));
    const checks = await said(() => Promise.resolve(client));
    expect(checks.get('store')?.status).toBe('broken');
    for (const name of ['server', 'workers', 'stuck runs']) {
      expect([name, checks.get(name)?.status]).toEqual([name, 'ok']);
    }
    for (const name of ['notifications', 'archive', 'growing runs', 'desk key']) {
      expect(checks.get(name)).toEqual({
        name,
        status: 'not_checked',
        found: 'not checked, because the store is broken',
      });
    }
  });

  test('is not checked, and says because of what', async () => {
    writeFileSync(join(folder, 'holdfast.config.ts'), 'export default {');
    const checks = await said(() => Promise.reject(new Error('nobody there')));
    for (const [first, names] of [
      ['server', ['namespace', 'search attributes', 'workers', 'stuck runs']],
      ['configuration', ['model key']],
    ] as const) {
      expect(checks.get(first)?.status).toBe('broken');
      for (const name of names) {
        const { status, found: text } = checks.get(name) ?? {};
        expect([name, status, text]).toEqual([
          name,
          'not_checked',
          `not checked, because the ${first} is broken`,
        ]);
      }
    }
  });
});

describe('runs that do not get on', () => {
  const since = Date.now() - 300_000;
  const waiting = (index: number): StuckRun => ({
    runId: `r${index}`,
    kind: 'waiting',
    waitsFor: 'the store',
    activity: 'call_model',
    attempt: 7,
    since,
    reason: 'The database server cannot be reached.',
  });

  test('are named with what they wait for, since when, and what to do, up to 20 of them', () => {
    const checks = stuckFound(Array.from({ length: 23 }, (_, index) => waiting(index)));
    expect(checks).toHaveLength(21);
    expect(checks[0]).toMatchObject({
      status: 'broken',
      found: expect.stringMatching(
        /^r0: it waits for the store \(call_model, tried 7 times\), for 5 min(?: \d+ s)?: The database/,
      ),
      mend: expect.stringContaining('Bring the store back'),
    });
    expect(checks[20]).toMatchObject({
      found: '3 more',
      mend: expect.stringContaining('holdfast list --stuck'),
    });
  });

  test('a promotion is told apart from an older copy, with what there is to do', () => {
    expect(restored({})).toEqual([]);
    const [promoted, ...more] = restored({ promotedAt: 0 });
    expect(more).toEqual([]);
    expect(promoted).toMatchObject({
      name: 'promoted',
      found: expect.stringMatching(/^the database was promoted.*if it was behind/),
      mend: expect.stringContaining('holdfast store restored --as NAME'),
    });
    expect(restored({ restoredAt: 0 })).toMatchObject([
      { name: 'restored', found: expect.stringContaining('an older copy of the store') },
    ]);
  });

  test.each(['the transcript', 'the right store'])(
    'nobody is promised that %s comes by itself: a restored store may lack it for good',
    (waitsFor) => {
      const mends = (what: string) => stuckFound([{ ...waiting(1), waitsFor: what }])[0];
      expect(mends('the store')).toMatchObject({ mend: expect.stringContaining('by itself') });
      expect(mends(waitsFor)).toMatchObject({
        mend: expect.not.stringContaining('by itself'),
      });
      expect(mends(waitsFor)).toMatchObject({
        mend: expect.stringMatching(/holdfast cancel RUN|docs\/operate\/postgres\.md/),
      });
    },
  );

  test('a run that has come to its end is not to be cancelled: it says when it ends without its records', () => {
    const closing = { ...waiting(1), waitsFor: 'the transcript', activity: 'close_run' };
    const [{ mend } = { mend: '' }] = stuckFound([closing]);
    expect(mend).toMatch(
      /ends without its last messages by itself: a cancelled one with its next try in .* a copy, else ten minutes after/,
    );
    expect(mend).not.toContain('holdfast cancel');
  });

  test('a wait that says no more than its name is told once, and one attempt is one time', () => {
    const reason = 'it waits for a worker';
    const run = { ...waiting(1), waitsFor: 'a worker', attempt: 1, reason };
    expect(stuckFound([run])[0]?.found).toMatch(
      /^r1: it waits for a worker \(call_model, tried 1 time\), for 5 min(?: \d+ s)?$/,
    );
  });

  test.each([
    'RulesTooNew: this run follows rules 23, this worker knows 22',
    '[TMPRL1100] Nondeterminism error: Missing associated machine for LocalActivity(1)',
  ])('a run that a newer release has begun wants a newer worker: %s', (reason) => {
    const run = { runId: 'r1', kind: 'workflow_task', attempt: 2, reason } as const;
    expect(stuckFound([run])).toMatchObject([
      { mend: 'Deploy a worker at least as new as the one that began the run.' },
    ]);
  });

  test('a task that was lost with a worker is not called one that fails', () => {
    const reason = 'the workflow task timed out: the worker is gone or too slow';
    const run = { runId: 'r1', kind: 'workflow_task', attempt: 2, reason, lost: true } as const;
    const [check] = stuckFound([run]);
    expect(check?.found).toMatch(/^r1: its workflow task was lost \(attempt 2\)/);
    expect(check).toMatchObject({ mend: expect.stringMatching(/^Temporal hands the task/) });
  });

  test('an activity that is lost with worker after worker is named with its tool, and so it is by show', () => {
    const lost = { attempt: 8, summary: 'orders.read' };
    const run = { runId: 'r1', kind: 'activity', activity: 'execute_tool', ...lost } as const;
    const [check] = stuckFound([{ ...run, reason: 'Heartbeat timeout' }]);
    expect(check?.found).toMatch(
      /^r1: its activity execute_tool \(orders\.read\) fails \(attempt 8/,
    );
    const shown = { id: 'r1:1', type: 'execute_tool', lastFailure: 'Heartbeat timeout', ...lost };
    expect(lostWords({ activities: [{ ...shown, lost: true }] })).toMatch(
      /^execute_tool orders\.read is in attempt 8; .*"Heartbeat timeout": its worker died/,
    );
    expect(lostWords({ activities: [shown] })).toBeNull();
  });

  test('such an activity is named by explain as well, where a server answers', async () => {
    const summary = 'orders.read';
    const activity = { type: 'execute_tool', summary, attempt: 8, lastFailure: 'x', lost: true };
    const handle = (runId: string) => ({
      execution: async () => {
        if (runId !== 'r1') throw new Error('RunNotFound');
        return { activities: [activity] };
      },
    });
    const client = { forTenant: () => ({ handle }) } as never;
    const there = { tryClient: async () => client };
    expect((await standingOf(there, 'r1')).trouble).toMatch(
      /^execute_tool orders\.read is in attempt 8/,
    );
    expect((await standingOf(there, 'r2')).trouble).toBeNull();
    expect(await standingOf({ tryClient: async () => undefined }, 'r1')).toEqual({ trouble: null });
  });

  test('bring nothing to the terminal that it obeys', () => {
    const hostile = {
      ...waiting(1),
      waitsFor: '\u001B[2Jpaid',
      reason: `\u202E${'x'.repeat(900)}`,
    };
    const [check] = stuckFound([hostile]);
    expect(JSON.stringify(check)).not.toMatch(/\\u|\u202E/);
    expect(check!.found.length).toBeLessThan(600);
  });
});

test('a wait is one line with since when, for how long and why, and has a next action', () => {
  const now = Date.now();
  const wait = { for: 'the store', since: now - 300_000, attempts: 7, activity: 'call_model' };
  expect(waitLine({ ...wait, message: 'It\u001B[2J cannot\nbe reached.' }, now)).toMatch(
    /^The run waits for the store since \d{4}-[^(]*\(5 min\), for call_model, tried 7 times: It cannot be reached\.$/,
  );
  const next = { ...wait, message: 'refused', nextAt: now + 24_000 };
  expect(waitLine(next, now)).toMatch(/tried 7 times, next at [\d:]{8} \(in 24\.0 s\): refused$/);
  expect(mendWaitNow(next, now)).toMatch(
    /^The store answers this command: the run goes on with its next try, at [\d:]{8} \(in 24\.0 s\)/,
  );
  expect(mendWaitNow(wait, now)).toContain('with its next try, unless');
  expect(mendWaitNow({ ...wait, for: 'a worker' }, now)).toBe(mendWait('a worker'));
  const actions = ['a worker', 'the store', 'the right store', 'the transcript', 'a worker with x'];
  expect(new Set(actions.map((what) => mendWait(what))).size).toBe(actions.length);
});
