/** Tokens of a run on the real server, read in the process of its worker and in another one. */
import { runCli } from '../../cli/program.js';
import { followRun } from '../../client/index.js';
import type { RunHandle } from '../../client/runs/run-handle.js';
import type { StreamChunk } from '../../pure/stream.js';
import { PATIENT } from './support/patience.js';
import { messagesIn, textIn, tokensOf } from './support/token-reader.js';
import { ofType, read, say, startWorld, type World } from './support/world.js';

const STREAMED = { includePartialMessages: true } as const;
const TEXT = 'The lamp is blue, and it has been blue for as long as anybody here can remember.';
const SLOWLY = { chunks: 20, chunkDelayMs: 10 };
const REPLIES = [
  { ...read(), text: 'Let me see.', ...SLOWLY },
  { ...say(TEXT), ...SLOWLY },
];

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop(), 60_000);

function start(runId: string, settings: object = STREAMED): Promise<RunHandle> {
  return world.start({ runId, replies: REPLIES, settings });
}

test('everything a model says is read while it says it, and adds up to its messages', async () => {
  const run = await start('stream-read');
  const chunks: StreamChunk[] = [];
  let early = 0;
  for await (const chunk of run.stream()) {
    chunks.push(chunk);
    if (chunk.kind === 'delta' && !(await run.execution()).closed) early += 1;
  }
  expect(early).toBeGreaterThan(20);
  const { events } = await world.ended(run);
  const responses = ofType(events, 'model_response');
  expect(messagesIn(chunks)).toEqual(
    new Map(responses.map(({ messageId, text }) => [messageId, (text as { text: string }).text])),
  );
  expect(chunks.map(({ kind }) => kind)).not.toContain('gap');
  expect(chunks.filter(({ kind }) => kind === 'attempt_started')).toHaveLength(2);
});

test('an attempt says which events came before it', async () => {
  const run = await start('stream-events');
  const chunks = await tokensOf(run);
  const { events } = await world.ended(run);
  const [first, second] = chunks.flatMap((chunk) =>
    chunk.kind === 'attempt_started' ? [chunk.eventsBefore] : [],
  );
  const types = (from: number, to: number) => events.slice(from, to).map(({ type }) => type);
  expect(types(0, first!)).toContain('session_init');
  expect(types(0, first!)).not.toContain('model_response');
  expect(types(first!, second!)).toContain('model_response');
});

test('histories are the same with and without it, and nothing is stored without it', async () => {
  const streamed = await world.ended(await start('stream-with'));
  const silent = await start('stream-without', {});
  const plain = await world.ended(silent);
  const types = ({ history }: typeof plain) =>
    (history.events ?? []).map((event) => event.eventType);
  expect(types(streamed)).toEqual(types(plain));
  expect(await tokensOf(silent)).toEqual([]);
  const page = await world.store.readStream(
    { tenant: 'default', runId: 'stream-without' },
    { fence: 1, index: 0 },
  );
  expect(page.batches).toEqual([]);
});

test('a reader who leaves goes on where it was, and one who comes late reads all of it', async () => {
  const run = await start('stream-again');
  const seen: StreamChunk[] = [];
  for (let visit = 0; seen.at(-1)?.kind !== 'attempt_ended' || visit < 3; visit += 1) {
    let left = 5;
    const after = seen.at(-1)?.cursor;
    for await (const chunk of run.stream(after === undefined ? {} : { after })) {
      seen.push(chunk);
      if ((left -= 1) === 0) break;
    }
  }
  await run.result();
  seen.push(...(await tokensOf(run, seen.at(-1)!.cursor)));
  expect(seen).toEqual(await tokensOf(run));
  expect(new Set(seen.map(({ cursor }) => cursor)).size).toBe(seen.length);
  expect(textIn(seen)).toBe(`Let me see.${TEXT}`);
});

test('a slow reader loses nothing, and the run does not wait for it', async () => {
  const run = await start('stream-slow');
  const chunks: StreamChunk[] = [];
  for await (const chunk of run.stream()) {
    chunks.push(chunk);
    // So slow that the run is over when it reads its second chunk.
    if (chunks.length === 1) await run.result();
  }
  expect(chunks.length).toBeGreaterThan(1);
  expect(textIn(chunks)).toBe(`Let me see.${TEXT}`);
});

test('a reader ends when it is told to, and when there is no more for now', async () => {
  const run = await world.start({
    runId: 'stream-leave',
    agent: 'talker',
    replies: [say('Hello.')],
    settings: STREAMED,
  });
  const stopping = new AbortController();
  const kinds: string[] = [];
  for await (const { kind } of run.stream({ signal: stopping.signal })) {
    kinds.push(kind);
    if (kind === 'attempt_ended') stopping.abort();
  }
  expect(kinds).toEqual(['attempt_started', 'delta', 'attempt_ended']);
  for await (const { kind } of run.stream({ untilNow: true })) kinds.push(kind);
  expect(kinds).toHaveLength(6);
  await run.close();
  await run.result();
});

test('the attempt under way when a run is ended from outside is named as dead', async () => {
  const run = await world.start({
    runId: 'stream-terminated',
    replies: [{ ...say(TEXT), chunks: 20, chunkDelayMs: 1_000 }],
    settings: STREAMED,
    wait: false,
  });
  const chunks: StreamChunk[] = [];
  for await (const chunk of run.stream()) {
    chunks.push(chunk);
    if (chunks.length === 2) await world.raw.workflow.getHandle(run.runId).terminate('enough');
  }
  expect(chunks.at(-1)).toMatchObject({ kind: 'attempt_reset', call: 1, attempt: 1 });
});

test('a worker in another process is followed through the store', async () => {
  const worker = await world.spawn({ taskQueue: 'elsewhere' });
  world.script('stream-elsewhere', REPLIES);
  await world.raw.workflow.start('agentRun', {
    workflowId: 'stream-elsewhere',
    taskQueue: 'elsewhere',
    args: [{ v: 1, agent: 'desk', task: { goal: 'Look.' }, settings: STREAMED }],
  });
  const run = world.client.handle('stream-elsewhere');
  await run.execution();
  const chunks = await tokensOf(run);
  expect(textIn(chunks)).toBe(`Let me see.${TEXT}`);
  expect(chunks.map(({ kind }) => kind)).not.toContain('gap');
  await worker.stop();
});

test('events and tokens together come in the order of their causes', async () => {
  const run = await start('stream-followed');
  const story: string[] = [];
  for await (const moment of followRun(run)) {
    if (moment.kind === 'event') story.push(moment.event.type);
    else if (moment.chunk.kind !== 'delta') story.push(moment.chunk.kind);
  }
  const { events } = await world.ended(run);
  expect(story.filter((type) => !type.startsWith('attempt_'))).toEqual(
    events.map(({ type }) => type),
  );
  const order = ['session_init', 'attempt_started', 'attempt_ended', 'model_response'];
  const turn = [...order.slice(1), 'tool_finished', 'tool_results_message', ...order.slice(1)];
  const seen = story.filter((type) => [order[0], ...turn].includes(type));
  expect(seen).toEqual([order[0], ...turn]);
});

async function holdfast(command: string) {
  const pieces: string[] = [];
  const streams = { out: (text: string) => void pieces.push(text), err: () => undefined };
  const place = [
    '--address',
    world.place.address,
    '--namespace',
    world.place.namespace,
    '--store',
    world.storePlace,
  ];
  const environment = { variables: {}, folder: '/', colour: false, interactive: false, ...PATIENT };
  const code = await runCli([...command.split(' '), ...place], { environment, streams });
  return { code, pieces, out: pieces.join('') };
}

test('start --watch prints what the model says as it says it, and events between', async () => {
  world.script('watched', REPLIES);
  const { code, pieces, out } = await holdfast('start desk Look --run-id watched --watch');
  expect(code).toBe(0);
  expect(pieces.length).toBeGreaterThan(30);
  const lines = out.split('\n');
  const at = (part: string) => lines.findIndex((line) => line.includes(part));
  expect(lines).toContain('│ Let me see.');
  expect(lines).toContain(`│ ${TEXT}`);
  expect(at('│ Let me see.')).toBeLessThan(at('wants facts.read'));
  expect(at('result     facts.read ok')).toBeLessThan(at(`│ ${TEXT}`));
});

test('start --watch --json gives a line for each event and each chunk', async () => {
  world.script('watched-json', REPLIES);
  const { out } = await holdfast('start desk Look --run-id watched-json --watch --json');
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  const chunks = lines.filter(({ type }) => type === 'stream_event') as unknown as StreamChunk[];
  expect(textIn(chunks)).toBe(`Let me see.${TEXT}`);
  expect(lines.at(-1)).toMatchObject({ type: 'run_result' });
});
