/** What the family of a fork did under other versions of a tool, in other releases, and at the same moment. */
import { digestOf } from '../../core/json/json.js';
import {
  eventsFrom,
  cleanUp,
  databaseNow,
  newStore,
  rawRows,
  SESSION_INIT,
  type Opened,
} from './fixtures.js';

let opened: Opened;
beforeEach(async () => {
  opened = await newStore();
});
afterAll(cleanUp);

const TENANT = 'default';
const SEVEN = { to: 'ada', cents: 7 };
const EIGHT = { to: 'ada', cents: 8 };

function put(runId: string, parent: string) {
  return opened.store.putFork({ tenant: TENANT, runId, parent, step: 3, body: '{}', at: 1 });
}

/** `by`: a release that knew nothing of digests of arguments alone wrote the row. */
async function claimed(
  runId: string,
  args = SEVEN,
  by: 'this release' | 'an older one' = 'this release',
) {
  const target = {
    tenant: TENANT,
    key: `${runId}:1`,
    argsDigest: `pay@1 ${args.cents}`,
    attempt: 1,
  };
  const plain = by === 'this release' && { plainDigest: digestOf(args) };
  const subject = { runId, callKey: '1', tool: 'pay', ...plain };
  await opened.store.claim({ ...target, ...subject, claimedUntil: 9, sameKeyRetry: false });
}

function query(runId: string, args = SEVEN, version = 'pay@1') {
  const digests = { argsDigest: `${version} ${args.cents}`, plainDigest: digestOf(args) };
  return { tenant: TENANT, runId, key: `${runId}:new`, tool: 'pay', ...digests, limit: 10 };
}

async function found(...asked: Parameters<typeof query>) {
  const rows = await opened.store.handedOverInFamily(query(...asked));
  return rows.map(({ key }) => key);
}

function tellStart(runId: string, args: typeof SEVEN, key = `${runId}:1`) {
  const body = { type: 'tool_started', callId: 'c1', tool: 'pay', key, args } as const;
  const events = eventsFrom(0, [body]);
  return opened.store.appendEvents({ tenant: TENANT, runId, execution: 'e1' }, events);
}

describe('another version of the tool', () => {
  test('is the same call, and other arguments are another', async () => {
    await put('fork', 'parent');
    await claimed('parent');
    expect(await found('fork', SEVEN, 'pay@2')).toEqual(['parent:1']);
    expect(await found('fork', EIGHT, 'pay@2')).toEqual([]);
    expect(await found('fork', EIGHT)).toEqual([]);
  });

  test('is found by the record where an older release has claimed the call', async () => {
    await claimed('parent', SEVEN, 'an older one');
    const call = { key: 'parent:1', tool: 'pay', digest: 'pay@1 7', at: 5, isDone: true };
    const calls = [{ ...call, plainDigest: digestOf(SEVEN) }];
    const fork = { tenant: TENANT, runId: 'fork', parent: 'parent', step: 3, body: '{}', at: 1 };
    await opened.store.putFork({ ...fork, calls: [call] });
    expect(await found('fork', EIGHT, 'pay@2')).toEqual(['parent:1']);
    await opened.store.putFork({ ...fork, runId: 'second', calls });
    expect(await found('fork', SEVEN, 'pay@2')).toEqual(['parent:1']);
    expect(await found('fork', EIGHT, 'pay@2')).toEqual([]);
  });

  test('is shown with the time at which it was handed over, not with the end of its claim', async () => {
    await claimed('parent');
    const call = { key: 'parent:1', tool: 'pay', digest: 'pay@1 7', at: 5, isDone: true };
    const fork = { tenant: TENANT, runId: 'fork', parent: 'parent', step: 3, body: '{}', at: 1 };
    await opened.store.putFork({ ...fork, calls: [{ ...call, plainDigest: digestOf(SEVEN) }] });
    expect(await opened.store.handedOverInFamily(query('fork'))).toMatchObject([{ at: 5 }]);
  });

  test('is found by the events of the run, and counts as the same where nothing tells of the arguments', async () => {
    await put('fork', 'parent');
    await claimed('parent', SEVEN, 'an older one');
    expect(await found('fork', SEVEN, 'pay@2')).toEqual(['parent:1']);
    expect(await found('fork', EIGHT, 'pay@2')).toEqual(['parent:1']);
    await tellStart('parent', SEVEN);
    expect(await found('fork', SEVEN, 'pay@2')).toEqual(['parent:1']);
    expect(await found('fork', EIGHT, 'pay@2')).toEqual([]);
    // The run was reset and its key has had other arguments since.
    await opened.store.appendEvents(
      { tenant: TENANT, runId: 'parent', execution: 'e1' },
      eventsFrom(1, [
        { type: 'tool_started', callId: 'c2', tool: 'pay', key: 'parent:1', args: EIGHT },
      ]),
    );
    expect(await found('fork', SEVEN, 'pay@2')).toEqual(['parent:1']);
  });
});

describe('forks that an older release made', () => {
  /** As it wrote them: the parent is the root. */
  async function putOld(runId: string, parent: string, root = parent) {
    await put(runId, parent);
    await rawRows(opened.place, `update forks set root = '${root}' where run_id = '${runId}'`);
  }

  test('are of the family of forks of this one, both ways', async () => {
    await putOld('old', 'goal:c2');
    await claimed('old');
    await put('new', 'goal:c2');
    expect(await found('new')).toEqual(['old:1']);
    await claimed('new');
    expect(await found('old')).toEqual(['new:1', 'old:1']);
    expect(await found('old:a1')).toEqual(['new:1', 'old:1']);
  });

  test('are so inside forks, and runs with like names are not', async () => {
    await putOld('old', 'goal:c2');
    await putOld('inner', 'old:a1');
    await putOld('inmost', 'inner', 'old:a1');
    await put('newest', 'inmost:a3');
    await put('other', 'goals:c2');
    for (const runId of ['old', 'inner', 'inmost', 'other']) await claimed(runId);
    expect((await found('newest')).toSorted()).toEqual(['inmost:1', 'inner:1', 'old:1']);
    expect(await found('other')).toEqual(['other:1']);
  });

  test('whose roots go round in a circle are read to an end', async () => {
    await putOld('one', 'two');
    await putOld('two', 'one');
    await claimed('two');
    expect(await found('one')).toEqual(['two:1']);
  });
});

describe('a word that a fork was given on a call of the recorded run', () => {
  const TOLD = { tenant: TENANT, key: 'told:1', argsDigest: 'pay@1 7', attempt: 1 };
  const SUBJECT = { runId: 'told', callKey: '1', tool: 'pay', plainDigest: digestOf(SEVEN) };

  async function tell(word: 'happened' | 'not happened') {
    await put('told', 'parent');
    await opened.store.burn({ ...TOLD, ...SUBJECT });
    const result = { text: 'A person confirmed that this took effect.' };
    if (word === 'happened')
      await opened.store.recordByPerson({ ...TOLD, result, source: 'person' });
  }

  const planned = async (runId: string) =>
    (await opened.store.callsOfFamily(TENANT, runId, 10)).calls.map(({ key }) => key);

  test('is no call of the fork', async () => {
    await claimed('parent');
    await tell('not happened');
    await put('fork', 'parent');
    expect(await found('fork')).toEqual(['parent:1']);
    expect(await found('fork', SEVEN, 'pay@2')).toEqual(['parent:1']);
    expect(await found('told')).toEqual(['parent:1']);
    expect(await planned('fork')).toEqual(['parent:1']);
    expect(await planned('parent')).toEqual([]);
    // The fork does it again.
    const again = { ...TOLD, attempt: 2, claimedUntil: 8, sameKeyRetry: false };
    await opened.store.claim({ ...again, ...SUBJECT });
    expect(await found('fork')).toEqual(['parent:1', 'told:1']);
    expect(await planned('fork')).toEqual(['parent:1', 'told:1']);
  });

  test('is told beside a call in doubt where a person said that it happened', async () => {
    await claimed('parent');
    await opened.store.burn({ ...TOLD, ...SUBJECT, key: 'parent:1', runId: 'parent' });
    await tell('happened');
    await put('fork', 'parent');
    const both = [
      { key: 'parent:1', state: 'in_doubt' },
      { key: 'told:1', state: 'done' },
    ];
    expect(await opened.store.handedOverInFamily(query('fork'))).toMatchObject(both);
    expect((await opened.store.callsOfFamily(TENANT, 'fork', 10)).calls).toMatchObject(both);
  });

  test.each(['happened', 'not happened'] as const)(
    'is asked about where nothing else is known of the call (%s)',
    async (word) => {
      await tell(word);
      expect(await found('fork')).toEqual([]);
      await put('fork', 'parent');
      expect(await found('fork')).toEqual(['told:1']);
      expect(await planned('fork')).toEqual(['told:1']);
    },
  );

  test('counts beside other calls of the tool, also where their arguments are not known', async () => {
    await claimed('parent:a1', EIGHT);
    await claimed('parent', EIGHT, 'an older one');
    await tell('not happened');
    await put('fork', 'parent');
    const known = ['parent:1', 'told:1'];
    expect((await found('fork')).toSorted()).toEqual(known);
    expect((await planned('fork')).toSorted()).toEqual(known);
  });

  test('counts as a call where the record of the fork has it', async () => {
    await claimed('parent');
    await tell('happened');
    await put('fork', 'parent');
    const call = { key: 'told:1', tool: 'pay', digest: 'pay@1 7', at: 5, isDone: true };
    const fork = { tenant: TENANT, runId: 'of-told', parent: 'told', step: 3, body: '{}', at: 1 };
    await opened.store.putFork({ ...fork, calls: [call] });
    expect(await found('fork')).toEqual(['parent:1', 'told:1']);
    expect(await planned('fork')).toEqual(['parent:1', 'told:1']);
  });

  test('counts as a call in a store that an older copy has taken the place of', async () => {
    await claimed('parent');
    await tell('happened');
    await put('fork', 'parent');
    await opened.store.raiseEpoch({ at: 1, by: 'ada', reason: 'the disk' });
    expect(await found('fork')).toEqual(['parent:1', 'told:1']);
    expect(await planned('fork')).toEqual(['parent:1', 'told:1']);
  });

  test('is no call that a fork which was reset has forgotten', async () => {
    await tell('happened');
    const run = { tenant: TENANT, runId: 'told' };
    const start = {
      type: 'tool_started',
      callId: 'c',
      tool: 'pay',
      key: 'k',
      args: EIGHT,
    } as const;
    const before = eventsFrom(0, [SESSION_INIT, start, start]);
    await opened.store.appendEvents({ ...run, execution: 'e1' }, before);
    await opened.store.appendEvents({ ...run, execution: 'e2' }, eventsFrom(1, [start]));
    const wanted = { tool: 'pay', toolVersion: '1', argsDigest: 'pay@1 7', key: 'own', limit: 6 };
    const asked = { ...run, execution: 'e2', ...wanted };
    expect(await opened.store.callsBeforeReset(asked)).toEqual([]);
    await opened.store.raiseEpoch({ at: 1, by: 'ada', reason: 'the disk' });
    expect(await opened.store.callsBeforeReset(asked)).toMatchObject([{ key: 'told:1' }]);
  });
});

test('of two runs of a family that claim at once the second finds what the first has claimed', async () => {
  await put('one', 'parent');
  await put('two', 'parent');
  const all = await Promise.all(
    ['one', 'two'].map((runId) =>
      opened.store.together(async (calls) => {
        const earlier = await calls.handedOverInFamily(query(runId));
        // The other one is there before this one has claimed, unless it has to wait.
        if (databaseNow() === 'postgres') await new Promise((next) => setTimeout(next, 300));
        const target = { tenant: TENANT, key: `${runId}:new`, argsDigest: 'pay@1 7', attempt: 1 };
        const subject = { runId, callKey: '1', tool: 'pay', plainDigest: digestOf(SEVEN) };
        if (earlier.length === 0)
          await calls.claim({ ...target, ...subject, claimedUntil: 9, sameKeyRetry: false });
        return earlier.length;
      }),
    ),
  );
  expect(new Set(all)).toEqual(new Set([0, 1]));
});
