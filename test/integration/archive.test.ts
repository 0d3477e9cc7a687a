/** Closed segments whose history could not be archived at once. */
import { createActivities } from '../../activities/index.js';
import type { Archival } from '../../store/archivals.js';
import type { Store } from '../../store/store.js';
import { holdfast, placeOf } from './support/command.js';
import { read, say, startWorld, until, type World } from './support/world.js';

const EVENTS_PER_SEGMENT = 40;
const TURNS = 5;
const ARCHIVED_LIMIT_MS = 60_000;

/** Runs whose histories cannot be stored by activities, as on a disk that is full for a moment. */
const REFUSED = new Set(['late', 'gone']);

function refusing(store: Store): Store {
  return {
    ...store,
    archiveHistory: (archive) =>
      REFUSED.has(archive.runId)
        ? Promise.reject(new Error('no space left'))
        : store.archiveHistory(archive),
  };
}

let world: World;
let stopped: World['stop'] | undefined;
async function begin(): Promise<void> {
  world = await startWorld({
    dynamicConfig: [
      `limit.historyCount.suggestContinueAsNew=${EVENTS_PER_SEGMENT}`,
      // Deleting waits until the server has noted that the execution was closed.
      'history.transferProcessorUpdateAckInterval="1s"',
    ],
    workerSettings: {
      activities: (deps) => createActivities({ ...deps, store: refusing(deps.store) }),
    },
  });
  stopped = world.stop;
}
/** What its worker logs: much of it, as is right. */
let logged: jest.SpiedFunction<typeof process.stderr.write>;
beforeAll(() => {
  logged = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  return begin();
});
afterAll(async () => {
  await stopped?.();
  expect(logged.mock.calls.join()).toContain('is not archived yet: no space left');
  logged.mockRestore();
});

async function played(runId: string) {
  const run = await world.start({
    runId,
    budget: { maxTurns: 100 },
    replies: ({ assistantMessages: n }) => (n < TURNS ? read(`item-${n}`) : say('Finished.')),
  });
  const { result } = await world.ended(run);
  expect(result.completed).toBe(true);
  return (await run.state()).segment;
}

const archivals = (runId: string): Promise<readonly Archival[]> =>
  world.store.listArchivals({ run: { tenant: 'default', runId }, limit: 100 });

const spoken = (...words: readonly string[]) => holdfast(placeOf(world), words);

test('a history that could not be stored at once is archived beside the run', async () => {
  const closed = await played('late');
  expect(closed).toBeGreaterThan(0);
  const histories = await until(
    'all closed segments to be archived',
    async () => {
      const found = await world.store.readHistories('default', 'late');
      return found.length === closed && (await archivals('late')).length === 0 ? found : undefined;
    },
    ARCHIVED_LIMIT_MS,
  );
  expect(histories.map(({ segment }) => segment)).toEqual(
    new Array(closed).fill(0).map((_, index) => index),
  );
});

test('a history that Temporal has deleted meanwhile is said to be lost, wherever one looks', async () => {
  await played('gone');
  const [first] = await archivals('gone');
  expect(first).toMatchObject({ segment: 0, state: 'waiting', fault: 'no space left' });
  await world.raw.workflowService.deleteWorkflowExecution({
    namespace: world.place.namespace,
    workflowExecution: { workflowId: 'gone', runId: first!.execution },
  });
  const lost = await until(
    'the history to be found lost',
    async () =>
      (await archivals('gone')).find(({ segment, state }) => segment === 0 && state !== 'waiting'),
    ARCHIVED_LIMIT_MS,
  );
  expect(lost).toMatchObject({ state: 'history_lost', execution: first!.execution });
  const exported = await spoken('export', 'gone', '-o', '/tmp/never-written.json');
  expect(exported.code).toBe(1);
  expect(exported.err).toMatch(/history_lost: .*segment 0/);
  expect((await spoken('show', 'gone')).out).toMatch(/history_lost: .*segment 0/);
  expect((await spoken('doctor')).out).toMatch(/history_lost: .*gone, segment 0/);
});
