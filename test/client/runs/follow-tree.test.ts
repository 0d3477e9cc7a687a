/** A run and the sub-agents below it as one sequence, from events that stand still. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { followTree } from '../../../client/index.js';
import type { RunHandle } from '../../../client/index.js';
import type { EventBody, RunEvent } from '../../../core/state/event.js';

type Line = readonly (readonly [seq: number, at: number, body: object])[];

function eventOf(runId: string, [seq, at, body]: Line[number]): RunEvent {
  return { ...(body as EventBody), stamp: { runId, seq, at } } as RunEvent;
}

/** Runs that say these events and nothing more. */
function handles(lines: { readonly [runId: string]: Line }) {
  return (runId: string): RunHandle => ({
    ...({} as RunHandle),
    runId,
    async *events({ since = 0, onQuiet, untilNow, signal } = {}) {
      let isRewound = false;
      let before = -1;
      for (const line of lines[runId] ?? []) {
        isRewound ||= line[0] <= before;
        before = line[0];
        if (line[0] >= since || isRewound) yield eventOf(runId, line);
      }
      if (untilNow) return;
      onQuiet?.();
      const ends = (lines[runId] ?? []).some(([, , body]) => 'result' in body);
      if (!ends && signal?.aborted !== true)
        await new Promise<void>((end) => signal?.addEventListener('abort', () => end()));
    },
  });
}

const init = (parent?: string, callId?: string) => ({
  type: 'session_init',
  ...(parent && { parent: { runId: parent, callId, root: 'r', path: ['desk', 'auditor'] } }),
});
const said = { type: 'model_response' };
const began = (callId: string, child: string) => ({ type: 'tool_started', callId, child });
const ended = (callId: string, child: string, status = 'ok') => ({
  type: 'tool_finished',
  callId,
  child,
  status,
  synthetic: false,
});
const result = { type: 'run_result', result: {} };

async function told(
  lines: { readonly [runId: string]: Line },
  more: Partial<Parameters<typeof followTree>[1]> = {},
): Promise<readonly string[]> {
  const seen: string[] = [];
  const options = { handle: handles(lines), untilNow: false, ...more };
  for await (const moment of followTree('r', options)) {
    const { of } = moment;
    const what = moment.kind === 'event' ? moment.event.stamp.seq : moment.kind;
    seen.push(`${of.runId} ${what} ${of.callId ?? '-'}`);
  }
  return seen;
}

test('What a sub-agent says comes before the end of its call, also when it goes on for ever or says no end.', async () => {
  const lines = {
    r: [
      [0, 0, init()],
      [1, 1, began('a', 'r:a1')],
      [2, 9, ended('a', 'r:a1')],
      [3, 10, result],
    ],
    'r:a1': [
      [0, 2, init('r', 'a')],
      // Its clock is ahead.
      [1, 99, said],
    ],
  } as const;
  const all = ['r 0 -', 'r 1 -', 'r:a1 0 a', 'r:a1 1 a', 'r 2 -', 'r 3 -'];
  expect(await told(lines)).toEqual(all);
  expect(await told(lines, { untilNow: true })).toEqual(all);
});

test('Of sub-agents that work at once the oldest event comes first.', async () => {
  const child = (callId: string, at: number): Line => [
    [0, at, init('r', callId)],
    [1, at + 2, said],
    [2, at + 4, result],
  ];
  const lines = {
    r: [
      [0, 0, init()],
      [1, 1, began('a', 'r:a1')],
      [2, 1, began('b', 'r:a2')],
      [3, 20, ended('b', 'r:a2')],
      [4, 20, ended('a', 'r:a1')],
      [5, 21, result],
    ],
    'r:a1': child('a', 10),
    'r:a2': child('b', 11),
  } as const;
  const between = ['r:a1 0 a', 'r:a2 0 b', 'r:a1 1 a', 'r:a2 1 b', 'r:a1 2 a', 'r:a2 2 b'];
  expect((await told(lines)).slice(3, 9)).toEqual(between);
});

test('A sub-agent of which nothing is stored is named, and one that did not start is not.', async () => {
  const of = (status: string): { readonly [runId: string]: Line } => ({
    r: [
      [0, 0, init()],
      [1, 1, began('a', 'r:a1')],
      [2, 9, ended('a', 'r:a1', status)],
      [3, 10, result],
    ],
  });
  expect(await told(of('ok'))).toEqual(['r 0 -', 'r 1 -', 'r:a1 absent a', 'r 2 -', 'r 3 -']);
  expect(await told(of('error'))).toEqual(['r 0 -', 'r 1 -', 'r 2 -', 'r 3 -']);
});

test('A number that was taken names the run of another call, of which nothing is told.', async () => {
  const lines = {
    r: [
      [0, 0, init()],
      [1, 1, began('b', 'r:a1')],
      [2, 9, ended('b', 'r:a2')],
      [3, 10, result],
    ],
    'r:a1': [
      [0, 0, init('r', 'a')],
      [1, 0, said],
    ],
    'r:a2': [[0, 2, init('r', 'b')]],
  } as const;
  expect(await told(lines)).toEqual(['r 0 -', 'r 1 -', 'r:a2 0 b', 'r 2 -', 'r 3 -']);
});

test('After a reset of the parent, sub-agents that it begins again are told again.', async () => {
  const lines = {
    r: [
      [0, 0, init()],
      [1, 1, began('a', 'r:a1')],
      [2, 9, ended('a', 'r:a1')],
      [1, 11, began('a', 'r:a1')],
      [2, 19, ended('a', 'r:a1')],
      [3, 20, result],
    ],
    'r:a1': [
      [0, 2, init('r', 'a')],
      [1, 3, result],
    ],
  } as const;
  const once = ['r 1 -', 'r:a1 0 a', 'r:a1 1 a', 'r 2 -'];
  expect(await told(lines)).toEqual(['r 0 -', ...once, ...once, 'r 3 -']);
});

test('Sub-agents whose calls had ended are left out for a reader who comes back, and those beyond a limit for all.', async () => {
  const child = (callId: string): Line => [
    [0, 2, init('r', callId)],
    [1, 3, result],
  ];
  const lines = {
    r: [
      [0, 0, init()],
      [1, 1, began('a', 'r:a1')],
      [2, 5, ended('a', 'r:a1')],
      [3, 6, began('b', 'r:a2')],
      [4, 9, ended('b', 'r:a2')],
      [5, 10, result],
    ],
    'r:a1': child('a'),
    'r:a2': child('b'),
  } as const;
  const seen = (runId: string) => (runId === 'r' ? 3 : -1);
  const root = ['r 0 -', 'r 1 -', 'r 2 -', 'r 3 -'];
  const rest = ['r 4 -', 'r 5 -'];
  expect(await told(lines, { seen })).toEqual([...root, 'r:a2 0 b', 'r:a2 1 b', ...rest]);
  expect(await told(lines, { childrenMax: 1 })).toEqual([
    ...root.slice(0, 2),
    'r:a1 0 a',
    'r:a1 1 a',
    ...root.slice(2),
    'r left_out -',
    ...rest,
  ]);
});

test('A reader of a run that waits long for a sub-agent keeps nothing of what that one has said.', async () => {
  const COUNT = 20_000;
  const words = Array.from({ length: COUNT }, (_, index): Line[number] => [index + 1, 2, said]);
  const lines = {
    r: [
      [0, 0, init()],
      [1, 1, began('a', 'r:a1')],
    ],
    'r:a1': [[0, 2, init('r', 'a')], ...words, [COUNT + 1, 3, result]],
  } as const;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heap = (): number => (collect(), process.memoryUsage().heapUsed);
  const reading = new AbortController();
  let before = 0;
  let after = 0;
  const options = { handle: handles(lines), untilNow: false, signal: reading.signal };
  for await (const moment of followTree('r', options)) {
    if (moment.of.depth === 0 || moment.kind !== 'event') continue;
    const { seq } = moment.event.stamp;
    if (seq === 1) before = heap();
    if (seq !== COUNT) continue;
    after = heap();
    reading.abort();
  }
  const bytesOfEach = (after - before) / COUNT;
  expect(bytesOfEach).toBeLessThan(100);
});
