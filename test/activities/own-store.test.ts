/** A question to a model asks which store this is in its first transaction, before anything else. */
import type { CallModelInput } from '../../core/state/effect.js';
import { openStore } from '../../store/store.js';
import {
  attempt,
  effect,
  environmentOf,
  failureFrom,
  modelInput,
  openedHead,
  RUN,
  sessionEvent,
  startBed,
  type Bed,
} from './setup.js';

let bed: Bed;
let head: string;
beforeEach(async () => {
  bed = await startBed({ replies: [{ text: 'Done.', usage: { input: 1, output: 1 } }] });
  head = await openedHead(bed);
});
afterEach(() => bed.end());

/** Of a run that knows a store by this name, in its first epoch. */
function inputOfStore(id: string): CallModelInput {
  const run = { ...RUN, store: { id, epoch: 1 } };
  return modelInput(head, { run, events: [sessionEvent(0) as never] });
}

const ask = (input: CallModelInput) => bed.activities().call_model(input);
const storedEvents = async () =>
  (await bed.store.readEvents(RUN, { sinceSeq: 0, limit: 10 })).events.length;

test('in another store nothing is asked, and nothing is left of what was written', async () => {
  const info = effect();
  const asked = environmentOf(info).run(bed.activities().call_model, inputOfStore('another'));
  const { id: found } = await bed.store.identity(1);
  expect(await failureFrom(asked as never)).toMatchObject({
    type: 'WrongStore',
    nonRetryable: false,
    details: [expect.objectContaining({ wanted: 'another', found })],
  });
  expect(bed.model.requests()).toHaveLength(0);
  expect(await storedEvents()).toBe(0);
});

test('a run that another store has adopted asks there, and learns of that store', async () => {
  await bed.store.adoptRun({ tenant: RUN.tenant, runId: RUN.runId, at: 1, by: 'mia' });
  const { store } = await attempt(ask, inputOfStore('another'));
  expect(store).toEqual(await bed.store.identity(1));
  expect(await storedEvents()).toBe(1);
});

test('a run that another tenant has adopted is not asked about', async () => {
  await bed.store.adoptRun({ tenant: 'other', runId: RUN.runId, at: 1, by: 'mia' });
  const asked = environmentOf(effect()).run(ask, inputOfStore('another'));
  expect(await failureFrom(asked as never)).toMatchObject({ type: 'WrongStore' });
  expect(bed.model.requests()).toHaveLength(0);
});

test('an epoch that another process has raised is told with the next reply', async () => {
  const { id } = await bed.store.identity(1);
  expect(await attempt(ask, inputOfStore(id))).not.toHaveProperty('store');
  const { place } = await bed.store.health();
  const other = await openStore({ file: place });
  await other.raiseEpoch({ at: 7, by: 'mia', reason: 'an older copy' });
  await other.close();
  const { store } = await attempt(ask, { ...inputOfStore(id), call: 2, events: [] });
  expect(store).toEqual({ id, epoch: 2 });
});

test('it is told with a reply as well that an earlier attempt has stored', async () => {
  const { id } = await bed.store.identity(1);
  expect(await attempt(ask, inputOfStore(id))).not.toHaveProperty('store');
  await bed.store.raiseEpoch({ at: 7, by: 'mia', reason: 'an older copy' });
  const { store } = await attempt(ask, inputOfStore(id));
  expect(bed.model.requests()).toHaveLength(1);
  expect(store).toEqual({ id, epoch: 2 });
});

test('a store that cannot tell which it is ends the question before anything leaves', async () => {
  const { store } = bed;
  const away = {
    ...store,
    together: (async (work) =>
      store.together((calls) =>
        work({ ...calls, identity: () => Promise.reject(new Error('gone')) }),
      )) as typeof store.together,
  };
  const { call_model } = bed.activities({ store: away });
  const asked = environmentOf(effect()).run(call_model, inputOfStore('another'));
  await failureFrom(asked as never);
  expect(bed.model.requests()).toHaveLength(0);
  expect(await storedEvents()).toBe(0);
});
