/** Brief payloads reach the implementations whole, with the route that the run's first event tells. */
import type { ActivityEffect, CallModelInput } from '../../core/state/effect.js';
import type { RunEvent } from '../../core/state/event.js';
import type { ModelRoute } from '../../core/state/model.js';
import { briefInput } from '../../core/step/brief-input.js';
import { routeHash } from '../../core/step/route.js';
import {
  attempt,
  effect,
  environmentOf,
  failureFrom,
  modelInput,
  openedHead,
  ROUTE,
  RUN,
  sessionEvent,
  startBed,
  type Bed,
} from './setup.js';

const OTHER: ModelRoute = { ...ROUTE, model: 'other', maxOutputTokens: 77 };

let bed: Bed;
let head: string;
beforeEach(async () => {
  bed = await startBed({ replies: [{ text: 'Done.', usage: { input: 1, output: 1 } }] });
  head = await openedHead(bed);
});
afterEach(() => bed.end());

function firstEvent(route?: ModelRoute): RunEvent {
  return {
    ...sessionEvent(0),
    type: 'session_init',
    agent: 'helper',
    taskId: 'task',
    goal: { text: 'Do it.' },
    model: ROUTE.name,
    tools: [],
    versions: {},
    ...(route !== undefined && { route }),
  } as RunEvent;
}

/** A request by the run's own route, as its history has it. */
function brief(changes: Partial<CallModelInput> = {}): CallModelInput {
  const { maxOutputTokens: maxTokens } = ROUTE;
  const input = modelInput(head, { route: ROUTE, maxTokens, ...changes });
  const form = { kind: 'call_model', input, brief: { route: routeHash(input.route) } };
  const written = briefInput(form as unknown as ActivityEffect);
  expect(written).not.toHaveProperty('route');
  return JSON.parse(JSON.stringify(written)) as CallModelInput;
}

const asked = (): unknown => JSON.parse(bed.model.requests().at(-1)?.body ?? 'null') as unknown;
const store = (events: readonly RunEvent[]) =>
  bed.store.appendEvents({ ...RUN, execution: 'another' }, events);

test('the route is that of the first event in the same payload', async () => {
  const { stamp, ...body } = firstEvent(ROUTE);
  const output = await attempt(
    bed.activities().call_model,
    brief({ events: [{ ...body, stamp } as never] }),
  );
  expect(asked()).toMatchObject({ model: ROUTE.model, max_tokens: ROUTE.maxOutputTokens });
  expect(output).not.toHaveProperty('attempts');
});

test('the route is that of the first event in the store', async () => {
  await store([firstEvent(OTHER)]);
  await attempt(bed.activities().call_model, brief());
  expect(asked()).toMatchObject({ model: 'other', max_tokens: 77 });
});

test('after a reset to its beginning the run asks by its new first event', async () => {
  await store([firstEvent(OTHER)]);
  const { call_model } = bed.activities();
  await attempt(call_model, brief());
  await bed.store.appendEvents({ ...RUN, execution: 'reset' }, [firstEvent(ROUTE)]);
  const info = effect();
  const workflowExecution = { ...info.workflowExecution, runId: 'reset' };
  await attempt(call_model, brief({ call: 2 }), { ...info, workflowExecution });
  expect(asked()).toMatchObject({ model: ROUTE.model });
});

test.each<[string, readonly RunEvent[]]>([
  ['no event of the run', []],
  ['a first event of before rules 22', [firstEvent()]],
])('a store with %s is not the one of the run: nothing is asked', async (_what, events) => {
  await store(events);
  const { call_model } = bed.activities();
  const failure = await failureFrom(environmentOf(effect()).run(call_model, brief()) as never);
  expect(failure).toMatchObject({ type: 'WrongStore', nonRetryable: false });
  expect(bed.model.requests()).toHaveLength(0);
});

test.each<[string, object]>([
  ['no run', { run: undefined }],
  ['messages that are none', { append: 'none' }],
  ['events that are none', { events: [null] }],
])('a brief payload with %s is no payload of a workflow', async (_what, changes) => {
  const { call_model } = bed.activities();
  const input = { ...brief(), ...changes } as CallModelInput;
  const failure = await failureFrom(environmentOf(effect()).run(call_model, input) as never);
  expect(failure).toMatchObject({ type: 'Internal' });
  expect(bed.model.requests()).toHaveLength(0);
});
