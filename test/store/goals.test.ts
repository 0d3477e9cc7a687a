/** What the store keeps of goals: their rows, their children, and what their cycles propose. */
import type { EventBody } from '../../core/state/event.js';
import type { Proposal } from '../../core/state/goal/proposal.js';
import type { Store } from '../../store/store.js';
import { PROPOSALS_MAX } from '../../store/proposals.js';
import {
  askView,
  cleanUp,
  eventsFrom,
  HOSTILE_NAMES,
  newStore,
  RESULT,
  SESSION_INIT,
  warnings,
} from './fixtures.js';

const A = { tenant: 't', runId: 'r1', execution: 'exec-a' };
const B = { ...A, execution: 'exec-b' };

let store: Store;
beforeEach(async () => {
  store = (await newStore()).store;
});
afterAll(cleanUp);

const STARTED: EventBody = {
  type: 'goal_started',
  agent: 'matcher',
  objective: { text: 'All invoices of March are matched.' },
  definition: 'h',
  maxCostMicroUsd: 1_000_000,
  pace: 'continuous',
  caller: 'alice',
  versions: {},
};

function cycleEnded(n: number, costMicroUsd: number): EventBody {
  return {
    type: 'cycle_ended',
    n,
    runId: `r1:c${n}`,
    stopReason: 'completed',
    costMicroUsd,
    progress: [],
  };
}

const HANDED_OVER: EventBody = {
  type: 'handoff',
  to: 'closer',
  by: 'matcher',
  because: 'All are matched.',
};
const SLEEPING: EventBody = { type: 'goal_sleeping', until: 9_000, because: 'pace' };

function goal() {
  return store.getRun('t', 'r1');
}

describe('a goal is a row among runs', () => {
  test('with what it spent of its budget and when it wakes', async () => {
    await store.appendEvents(A, eventsFrom(0, [STARTED, cycleEnded(1, 4_200), SLEEPING]));
    expect(await goal()).toEqual({
      tenant: 't',
      runId: 'r1',
      kind: 'goal',
      agent: 'matcher',
      taskId: 'r1',
      goalPreview: 'All invoices of March are matched.',
      model: '',
      caller: 'alice',
      status: 'running',
      trail: { tools: new Set(), errorCodes: new Set() },
      startedAt: 1000,
      updatedAt: 1002,
      lastSeq: 2,
      epoch: 0,
      nextWake: 9_000,
      spentMicroUsd: 4_200,
      budgetMicroUsd: 1_000_000,
    });
    const woken: EventBody = { type: 'goal_woken', by: 'time', sleptMs: 1 };
    await store.appendEvents(A, eventsFrom(3, [woken, cycleEnded(2, 800)]));
    const row = await goal();
    expect(row).toMatchObject({ spentMicroUsd: 5_000 });
    expect(row).not.toHaveProperty('nextWake');
  });

  test('that says while a person holds it since when and by whom, and does not wake by itself', async () => {
    const word = (control: string): EventBody => ({
      type: 'goal_steered',
      by: 'mia',
      proven: true,
      text: { text: '' },
      control,
    });
    await store.appendEvents(A, eventsFrom(0, [STARTED, SLEEPING, word('pause')]));
    const paused = await goal();
    expect(paused).toMatchObject({
      status: 'running',
      detail: 'paused since 1970-01-01T00:00:01.002Z, by mia',
    });
    expect(paused).not.toHaveProperty('nextWake');
    await store.appendEvents(A, eventsFrom(3, [word('resume')]));
    const resumed = await goal();
    expect(resumed).not.toHaveProperty('detail');
    // No event says that its sleep goes on.
    expect(resumed?.nextWake).toBe(9_000);
    await store.appendEvents(B, eventsFrom(3, warnings(1), 5_000));
    expect(await goal()).toMatchObject({ detail: paused?.detail });
    await store.appendEvents(B, eventsFrom(2, warnings(1), 9_000));
    expect(await goal()).not.toHaveProperty('detail');
  });

  test('which lists of runs leave out, and lists of goals have alone', async () => {
    await store.appendEvents(A, eventsFrom(0, [STARTED]));
    const plain = { ...A, runId: 'r2' };
    await store.appendEvents(plain, eventsFrom(0, [SESSION_INIT]));
    const ids = (rows: readonly { readonly runId: string }[]) => rows.map(({ runId }) => runId);
    expect(ids(await store.listRuns('t', { limit: 10 }))).toEqual(['r2']);
    expect(ids(await store.listRuns('t', { kind: 'goal', limit: 10 }))).toEqual(['r1']);
    expect(ids(await store.listGoals('t', { limit: 10 }))).toEqual(['r1']);
    expect(ids(await store.listGoals('t', { agent: 'other', limit: 10 }))).toEqual([]);
    expect(ids(await store.listGoals('other', { limit: 10 }))).toEqual([]);
  });

  test('whose agent is the one that it was handed to; a run keeps the one that it began with', async () => {
    await store.appendEvents(A, eventsFrom(0, [STARTED]));
    await store.appendEvents(A, eventsFrom(1, [HANDED_OVER]));
    expect(await goal()).toMatchObject({ agent: 'closer' });
    expect(await store.listGoals('t', { agent: 'closer', limit: 10 })).toHaveLength(1);
    const plain = { ...A, runId: 'r2' };
    await store.appendEvents(plain, eventsFrom(0, [SESSION_INIT, HANDED_OVER]));
    expect(await store.getRun('t', 'r2')).not.toMatchObject({ agent: 'closer' });
  });

  test('whose questions are in the inbox, until the goal has ended', async () => {
    const asked: EventBody = { type: 'approval_requested', ...askView('r1:1') };
    await store.appendEvents(A, eventsFrom(0, [STARTED, asked]));
    expect(await goal()).toMatchObject({ status: 'awaiting_approval' });
    expect(await store.listAsks('t', { pendingOnly: true, limit: 10 })).toHaveLength(1);
    await store.appendEvents(A, eventsFrom(2, [{ type: 'goal_result', result: RESULT }]));
    expect(await goal()).toMatchObject({
      status: 'stopped',
      result: RESULT,
      kind: 'goal',
      spentMicroUsd: RESULT.costMicroUsd,
    });
    expect(await store.getAsk('t', 'r1:1')).toMatchObject({ outcome: 'withdrawn' });
  });

  test('which a reset makes what the events before it say', async () => {
    const told: EventBody = {
      type: 'goal_steered',
      by: 'mia',
      proven: true,
      text: { text: '' },
      control: 'setBudget',
      value: { maxCostMicroUsd: 2_000_000 },
    };
    await store.appendEvents(
      A,
      eventsFrom(0, [STARTED, cycleEnded(1, 700), told, cycleEnded(2, 90), HANDED_OVER, SLEEPING]),
    );
    expect(await goal()).toMatchObject({ agent: 'closer', spentMicroUsd: 790 });
    expect(await goal()).toMatchObject({ budgetMicroUsd: 2_000_000 });
    await store.appendEvents(B, eventsFrom(2, warnings(1), 5_000));
    const row = await goal();
    expect(row).toMatchObject({ spentMicroUsd: 700, budgetMicroUsd: 1_000_000, epoch: 1 });
    expect(row).toMatchObject({ agent: 'matcher' });
    expect(row).not.toHaveProperty('nextWake');
  });
});

describe('a child of a goal', () => {
  const CHILD = {
    tenant: 't',
    child: 'g:c1',
    parent: 'g',
    n: 1,
    digest: 'd1',
    start: '{"task":{}}',
  };

  test('is registered once, by its own parent', async () => {
    expect(await store.registerChild(CHILD)).toBe('registered');
    expect(await store.registerChild(CHILD)).toBe('same');
    expect(await store.registerChild({ ...CHILD, parent: 'other' })).toBe('taken');
    expect(await store.childRow('t', 'g:c1')).toEqual({ ...CHILD, state: 'open' });
    expect(await store.childRow('other', 'g:c1')).toBeUndefined();
    expect(await store.childRow('t', 'g:c2')).toBeUndefined();
  });

  test('gets another start only as long as it has no events', async () => {
    await store.registerChild(CHILD);
    const other = { ...CHILD, digest: 'd2', start: '{"task":{"goal":"x"}}' };
    expect(await store.registerChild(other)).toBe('registered');
    expect(await store.childRow('t', 'g:c1')).toMatchObject({ digest: 'd2', start: other.start });
    await store.appendEvents({ ...A, runId: 'g:c1' }, eventsFrom(0, [SESSION_INIT]));
    expect(await store.registerChild(CHILD)).toBe('taken');
    expect(await store.registerChild(other)).toBe('same');
  });

  test('cannot have the id of a run that is there already', async () => {
    await store.appendEvents({ ...A, runId: 'g:c1' }, eventsFrom(0, [SESSION_INIT]));
    expect(await store.registerChild(CHILD)).toBe('taken');
    expect(await store.childRow('t', 'g:c1')).toBeUndefined();
  });

  test('stays sealed', async () => {
    expect(await store.sealChild('t', 'g:c1')).toBe(false);
    await store.registerChild(CHILD);
    expect(await store.sealChild('t', 'g:c1')).toBe(true);
    expect(await store.registerChild(CHILD)).toBe('same');
    expect(await store.registerChild({ ...CHILD, digest: 'd2' })).toBe('taken');
    expect(await store.childRow('t', 'g:c1')).toMatchObject({ state: 'sealed', digest: 'd1' });
  });

  test('is known by its parent, and its run names it', async () => {
    for (const n of [2, 1, 3]) await store.registerChild({ ...CHILD, child: `g:c${n}`, n });
    await store.registerChild({ ...CHILD, child: 'h:c1', parent: 'h' });
    const listed = await store.listChildren('t', 'g', { limit: 10 });
    expect(listed.map(({ child }) => child)).toEqual(['g:c1', 'g:c2', 'g:c3']);
    expect(await store.listChildren('t', 'g', { limit: 1, after: 1 })).toMatchObject([{ n: 2 }]);
    await store.appendEvents({ ...A, runId: 'g:c1' }, eventsFrom(0, [SESSION_INIT]));
    expect(await store.getRun('t', 'g:c1')).toMatchObject({ parent: 'g' });
    expect(await store.listRuns('t', { parent: 'g', limit: 10 })).toHaveLength(1);
  });

  test.each(HOSTILE_NAMES)('may be called %j', async (name) => {
    const child = { ...CHILD, tenant: name, child: name, parent: name };
    expect(await store.registerChild(child)).toBe('registered');
    expect(await store.childRow(name, name)).toEqual({ ...child, state: 'open' });
  });
});

describe('what a cycle proposes', () => {
  const PLACE = { tenant: 't', goal: 'g', cycle: 1 };
  const note = (text: string): Proposal => ({ kind: 'note', text });

  test('keeps its order, once for each call', async () => {
    const put = (key: string, text: string) =>
      store.putProposal({ ...PLACE, key, proposal: note(text) });
    expect(await put('a', 'one')).toEqual({ k: 1, isNew: true });
    expect(await put('b', 'two')).toEqual({ k: 2, isNew: true });
    expect(await put('a', 'one')).toEqual({ k: 1, isNew: false });
    expect(await store.listProposals('t', 'g', 1)).toEqual([
      { k: 1, key: 'a', proposal: note('one') },
      { k: 2, key: 'b', proposal: note('two') },
    ]);
    expect(await store.listProposals('t', 'g', 2)).toEqual([]);
    expect(await store.listProposals('other', 'g', 1)).toEqual([]);
  });

  test('is what the call said last, as after a reset', async () => {
    await store.putProposal({ ...PLACE, key: 'a', proposal: note('before') });
    await store.putProposal({ ...PLACE, key: 'a', proposal: note('after') });
    expect(await store.listProposals('t', 'g', 1)).toMatchObject([{ proposal: note('after') }]);
  });

  test('is numbered without gaps when several propose at once', async () => {
    const keys = Array.from({ length: 10 }, (_, index) => `k${index}`);
    await Promise.all(keys.map((key) => store.putProposal({ ...PLACE, key, proposal: note(key) })));
    const rows = await store.listProposals('t', 'g', 1);
    expect(rows.map(({ k }) => k)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('is refused when the cycle has proposed too much', async () => {
    const full = Array.from({ length: PROPOSALS_MAX }, (_, index) => `k${index}`);
    await store.together(async (calls) => {
      for (const key of full) await calls.putProposal({ ...PLACE, key, proposal: note('x') });
    });
    const late = { ...PLACE, key: 'late', proposal: note('x') };
    expect(await store.putProposal(late)).toBeUndefined();
  });
});

describe('what the cycles of a goal did', () => {
  const CALL = {
    tenant: 't',
    argsDigest: 'd1',
    attempt: 1,
    callKey: '1',
    tool: 'mail.send',
    claimedUntil: 9_000,
    sameKeyRetry: false,
  };
  const claim = (runId: string, key: string, argsDigest = 'd1') =>
    store.claim({ ...CALL, runId, key, argsDigest });
  const record = async (runId: string, key: string, argsDigest = 'd1') => {
    await claim(runId, key, argsDigest);
    const result = { text: 'ok' };
    await store.record({ tenant: 't', key, argsDigest, attempt: 1, result, source: 'tool' });
  };
  const noted = (cycle: number) =>
    store.noteEffects({ tenant: 't', goal: 'g', cycle, child: `g:c${cycle}` });

  test('is new in the first cycle that recorded it, however often it is asked', async () => {
    await record('g:c1', 'g:c1:1', 'd1');
    await record('g:c1', 'g:c1:2', 'd2');
    await claim('g:c1', 'g:c1:3', 'd3');
    await record('g:c2', 'g:c2:1', 'd2');
    await record('g:c2', 'g:c2:2', 'd4');
    expect(await noted(1)).toEqual(['g:c1:1', 'g:c1:2']);
    expect(await noted(2)).toEqual(['g:c2:2']);
    expect(await noted(1)).toEqual(['g:c1:1', 'g:c1:2']);
    expect(await noted(2)).toEqual(['g:c2:2']);
  });

  test('is not new to the goal that goes on with it', async () => {
    await record('g:c1', 'g:c1:1');
    await noted(1);
    await store.inheritEffects({ tenant: 't', from: 'g', goal: 'h' });
    await record('h:c1', 'h:c1:1');
    const next = { tenant: 't', goal: 'h', cycle: 1, child: 'h:c1' };
    expect(await store.noteEffects(next)).toEqual([]);
  });

  test('is in doubt while it is claimed, or void without a word that it did not happen', async () => {
    await record('g:c1', 'k1');
    await claim('g:c1', 'k2');
    await claim('g:c1', 'k3');
    await store.burn({ ...CALL, runId: 'g:c1', key: 'k3' });
    await claim('g:c1', 'k4');
    await store.voidClaim({ tenant: 't', key: 'k4', attempt: 1 });
    expect(await store.countDoubtful('t', 'g:c1')).toBe(2);
    expect(await store.countDoubtful('t', 'g:c2')).toBe(0);
  });

  test('costs what its attempts cost; of what nobody has heard, the bound', async () => {
    const start = {
      tenant: 't',
      runId: 'g:c1',
      effectId: 'e1',
      kind: 'model',
      boundCostMicroUsd: 500,
      boundInputTokens: 1,
      boundOutputTokens: 1,
      startedAt: 1,
    } as const;
    const attempt = await store.startAttempt(start);
    const end = { outcome: 'ok', costMicroUsd: 30, estimated: false, finishedAt: 2 } as const;
    await store.finishAttempt({ tenant: 't', runId: 'g:c1', effectId: 'e1', attempt, ...end });
    await store.startAttempt({ ...start, effectId: 'e2' });
    const cost = { costMicroUsd: 530, unheard: 1, replies: 1 };
    expect(await store.attemptedCost('t', 'g:c1')).toEqual(cost);
    const nothing = { costMicroUsd: 0, unheard: 0, replies: 0 };
    expect(await store.attemptedCost('t', 'g:c2')).toEqual(nothing);
  });
});
