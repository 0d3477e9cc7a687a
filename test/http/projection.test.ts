import { buildSync } from 'esbuild';
import { join } from 'node:path';
import type { EventBody, RunEvent } from '../../core/state/event.js';
import {
  askOfApproval,
  chunksOf,
  leaveMessage,
  liveParts,
  messagesOf,
  startMessage,
  tellMoment,
  type UiChunk,
  type UiMoment,
} from '../../http/projection/index.js';
import type { Source } from '../../pure/sources.js';
import type { StreamChunk, StreamEntry } from '../../pure/stream.js';
import { MAJORS, readChunks, type ClientPart } from './clients.js';

const RUN = 'run_1';
const HASH = 'a'.repeat(64);

/** Moments of one run: events are numbered as they come. */
function moments(...said: readonly (EventBody | StreamChunk)[]): readonly UiMoment[] {
  let seq = 0;
  return said.map((one): UiMoment => {
    if ('cursor' in one) return { kind: 'chunk', chunk: one };
    const stamp = {
      seq: seq++,
      runId: RUN,
      traceId: 't',
      at: 0,
      phase: 'validating',
      step: 1,
      turn: 1,
    };
    return { kind: 'event', event: { ...one, stamp } as RunEvent };
  });
}

const USAGE = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
type Call = { readonly id: string; readonly tool: string; readonly args: { readonly n: number } };

const reply = (number: number, text: string, calls: readonly Call[] = []): EventBody => ({
  type: 'model_response',
  call: number,
  messageId: `${RUN}:m${number}`,
  text: { text },
  calls,
  stopReason: calls.length > 0 ? 'tool_use' : 'end_turn',
  model: 'scripted/model',
  usage: USAGE,
  costMicroUsd: 0,
});
const cites = (said: EventBody): EventBody => {
  const sources: readonly Source[] = [
    { kind: 'url', url: 'https://a.example', title: 'A', passages: [{ text: 'x' }] },
    { kind: 'document', title: 'T', mediaType: 'text/plain', filename: 't.txt', fileId: 'f' },
  ];
  return Object.assign(said, { sources });
};
const piece = (number: number, entry: StreamEntry | { readonly kind: 'gap' }, attempt = 1) =>
  ({
    call: number,
    attempt,
    messageId: `${RUN}:m${number}`,
    cursor: `${number}.0`,
    ...entry,
  }) as StreamChunk;
const started = (number: number, attempt = 1) =>
  piece(number, { kind: 'attempt_started', eventsBefore: 0 }, attempt);
const words = (number: number, text: string, attempt = 1) =>
  piece(number, { kind: 'delta', delta: { type: 'text', block: 0, text } }, attempt);
const block = (number: number, place: number, text: string) =>
  piece(number, { kind: 'delta', delta: { type: 'text', block: place, text } });
const ended = (number: number, attempt = 1) => piece(number, { kind: 'attempt_ended' }, attempt);
const died = (number: number, attempt = 1) =>
  piece(number, { kind: 'attempt_reset', reason: 'WorkerLost' }, attempt);

const toolStarted = (callId: string): EventBody => ({
  type: 'tool_started',
  callId,
  tool: 'act',
  key: callId,
  args: { n: 1 },
});
const toolEnded = (
  callId: string,
  text: string,
  over: Partial<Extract<EventBody, { type: 'tool_finished' }>> = {},
): EventBody => ({
  type: 'tool_finished',
  callId,
  tool: 'act',
  status: 'ok',
  content: { text },
  synthetic: false,
  started: true,
  attempts: 1,
  durationMs: 1,
  key: callId,
  ...over,
});
const results = (...callIds: string[]): EventBody => ({
  type: 'tool_results_message',
  messageId: `${RUN}:m9`,
  callIds,
});
const asked = (callId: string): EventBody => ({
  type: 'approval_requested',
  askId: `${RUN}:${callId}`,
  kind: 'approval',
  callId,
  tool: 'act',
  args: { n: 1 },
  argsHash: HASH,
  roles: ['manager'],
  quorum: 1,
  policyVersion: '1',
  openedAt: 1,
  expiresAt: 2,
});
const resolved = (callId: string, outcome: 'approved' | 'rejected'): EventBody => ({
  type: 'approval_resolved',
  askId: `${RUN}:${callId}`,
  callId,
  tool: 'act',
  outcome,
  by: ['maria'],
  waitedMs: 1,
});
const over = (status = 'completed', stopReason = 'completed'): EventBody =>
  ({ type: 'run_result', result: { status, stopReason } }) as unknown as EventBody;

const options = (profile: 'v6' | 'v7') => ({ profile, runId: RUN, messageId: RUN });
const call = (id: string): Call => ({ id, tool: 'act', args: { n: 1 } });

/** What people see of a part, in a word. */
function shown(parts: readonly ClientPart[]): readonly string[] {
  return liveParts(parts).flatMap((part) => {
    if (part.type === 'step-start') return ['step'];
    if (part.type === 'text' || part.type === 'reasoning') return [`${part.type} ${part.text}`];
    if (part.type === 'data-holdfast-ask') return [`ask ${String(part.data?.['state'])}`];
    if (part.type.startsWith('data-')) return [];
    if (part.type.startsWith('source-')) return [part.type];
    const said = part.output ?? part.errorText ?? '';
    return [`${part.type} ${part.state} ${JSON.stringify(said)}`];
  });
}

const TABLE: readonly (readonly [string, readonly UiMoment[], readonly string[]])[] = [
  [
    'a reply of which no pieces came is whole',
    moments(reply(1, 'Hello.'), over()),
    ['step', 'text Hello.'],
  ],
  [
    'pieces of a reply are its text, once',
    moments(started(1), words(1, 'Hel'), words(1, 'lo.'), ended(1), reply(1, 'Hello.'), over()),
    ['step', 'text Hello.'],
  ],
  [
    'a text that comes in several blocks stays as it came',
    moments(
      started(1),
      block(1, 0, 'The sky '),
      block(1, 2, 'is '),
      block(1, 2, 'blue'),
      block(1, 3, '.'),
      ended(1),
      reply(1, 'The sky \nis blue\n.'),
      over(),
    ),
    ['step', 'text The sky ', 'text is blue', 'text .'],
  ],
  [
    'a block of a text that is missing is put behind those that came',
    moments(started(1), block(1, 0, 'One.'), ended(1), reply(1, 'One.\nTwo.'), over()),
    ['step', 'text One.', 'text \nTwo.'],
  ],
  [
    'what an attempt said that died is not shown',
    moments(
      started(1),
      words(1, 'Once upon'),
      died(1),
      started(1, 2),
      words(1, 'Hello.', 2),
      ended(1, 2),
      reply(1, 'Hello.'),
      over(),
    ),
    ['step', 'step', 'text Hello.'],
  ],
  [
    'pieces that are missing are put back by the event of the reply',
    moments(
      started(1),
      piece(1, { kind: 'gap' }),
      words(1, 'lo.'),
      ended(1),
      reply(1, 'Hello.'),
      over(),
    ),
    ['step', 'text Hello.'],
  ],
  [
    'the rest of a reply whose last pieces did not come is added',
    moments(started(1), words(1, 'Hel'), reply(1, 'Hello.'), over()),
    ['step', 'text Hel', 'text lo.'],
  ],
  [
    'a reply has its sources behind its words, once',
    moments(started(1), words(1, 'Hello.'), ended(1), cites(reply(1, 'Hello.')), over()),
    ['step', 'text Hello.', 'source-url', 'source-document'],
  ],
  [
    'sources and calls of a reply that was told with other words count with the words that count',
    moments(
      started(1),
      words(1, 'Other'),
      ended(1),
      cites(reply(1, 'Hello.', [call('c1')])),
      toolStarted('c1'),
      toolEnded('c1', 'done'),
      over(),
    ),
    ['step', 'text Hello.', 'source-url', 'source-document', 'tool-act output-available "done"'],
  ],
  [
    'sources of a message that was taken back are not shown',
    moments(
      cites(reply(1, 'Hello.')),
      { type: 'tombstone', targetMessageId: `${RUN}:m1`, reason: 'x' } as unknown as EventBody,
      reply(2, 'Again.'),
      over(),
    ),
    ['step', 'step', 'text Again.'],
  ],
  [
    'a tool has its input and its output',
    moments(
      reply(1, 'Look.', [call('c1')]),
      toolStarted('c1'),
      toolEnded('c1', '{"fact":"blue"}'),
      results('c1'),
      reply(2, 'Blue.'),
      over(),
    ),
    ['step', 'text Look.', 'tool-act output-available {"fact":"blue"}', 'step', 'text Blue.'],
  ],
  [
    'a call that failed has its error, and one that was not run says so',
    moments(
      reply(1, '', [call('c1'), call('c2')]),
      toolStarted('c1'),
      toolEnded('c1', 'no paper', { status: 'error', code: 'execution_error' }),
      results('c1'),
      over(),
    ),
    ['step', 'tool-act output-error "no paper"', 'tool-act output-error "The call was not run."'],
  ],
  [
    'an approval is asked for at its call, and its call has a result',
    moments(
      reply(1, '', [call('c1')]),
      asked('c1'),
      resolved('c1', 'approved'),
      toolStarted('c1'),
      toolEnded('c1', 'done'),
      over(),
    ),
    ['step', 'tool-act output-available "done"', 'ask approved'],
  ],
  [
    'a call that people refuse is denied',
    moments(
      reply(1, '', [call('c1')]),
      asked('c1'),
      resolved('c1', 'rejected'),
      toolEnded('c1', 'rejected', { status: 'error', code: 'approval_rejected', started: false }),
      over(),
    ),
    ['step', 'tool-act output-denied ""', 'ask rejected'],
  ],
  [
    'while an approval is open, calls whose turn has not come are not shown',
    moments(reply(1, '', [call('c1'), call('c2')]), asked('c1')),
    ['step', 'tool-act approval-requested ""', 'ask open'],
  ],
  [
    'a run that stops leaves no call open',
    moments(reply(1, '', [call('c1')]), toolStarted('c1'), over('cancelled', 'interrupted')),
    ['step', 'tool-act output-error "The call was not run."'],
  ],
  [
    'a message that was taken back is not shown',
    moments(
      reply(1, 'Nonsense.'),
      { type: 'tombstone', targetMessageId: `${RUN}:m1`, reason: 'completion_rejected' },
      reply(2, 'Sense.'),
      over(),
    ),
    ['step', 'step', 'text Sense.'],
  ],
];

describe.each(MAJORS)('a client of %s', (major) => {
  test.each(TABLE)('%s', async (_title, said, wanted) => {
    const message = await readChunks(major, chunksOf(said, options(major)));
    const parts = shown(message?.parts ?? []);
    // A client that takes parts back begins the step anew.
    const steps = (list: readonly string[]) =>
      list.filter((one, index) => one !== 'step' || list[index + 1] !== 'step');
    expect(steps(parts).filter(isNotEmptyStep)).toEqual(steps(wanted));
  });

  test('is asked for an approval by the exact action', async () => {
    const said = moments(reply(1, '', [call('c1')]), asked('c1'));
    const message = await readChunks(major, chunksOf(said, options(major)));
    const part = message?.parts.find(({ approval }) => approval !== undefined);
    expect(askOfApproval(part?.approval?.id ?? '')).toEqual({
      askId: `${RUN}:c1`,
      argsHash: HASH,
    });
    expect(message?.parts).toContainEqual(
      expect.objectContaining({
        type: 'data-holdfast-run',
        data: { runId: RUN, seq: 1, state: 'waiting' },
      }),
    );
  });
});

const isNotEmptyStep = (one: string, index: number, all: readonly string[]) =>
  one !== 'step' || index + 1 < all.length;

test('the profile for ai@6 has no chunk that ai@6 refuses', () => {
  const newer = ['reset-step', 'tool-approval-response'];
  for (const [, said] of TABLE) {
    const kinds = chunksOf(said, options('v6')).map(({ type }) => type as string);
    expect(kinds.filter((kind) => newer.includes(kind))).toEqual([]);
  }
  const inSeven = TABLE.flatMap(([, said]) => chunksOf(said, options('v7'))).map(
    ({ type }) => type as string,
  );
  expect(inSeven).toEqual(expect.arrayContaining(newer));
});

test('a question is open again for a client that may have answered it, and for no other', () => {
  let { state } = startMessage(options('v6'));
  for (const moment of moments(reply(1, '', [call('c1')]), asked('c1'))) {
    ({ state } = tellMoment(state, moment));
  }
  const types = (known?: ReadonlySet<string>) => leaveMessage(state, known).map(({ type }) => type);
  expect(types()).not.toContain('tool-approval-request');
  expect(types(new Set([`${RUN}:c1`]))).toContain('tool-approval-request');
  expect(types(new Set([`${RUN}:other`]))).not.toContain('tool-approval-request');
});

test('a message has one beginning and one end', () => {
  for (const [title, said] of TABLE) {
    const kinds = chunksOf(said, options('v7')).map(({ type }) => type);
    expect([title, kinds[0], kinds.at(-1)]).toEqual([title, 'start', 'finish']);
    expect(kinds.filter((kind) => kind === 'start' || kind === 'finish')).toHaveLength(2);
  }
});

test('a message of very many calls keeps those alone that may still be told of', () => {
  const numbers = Array.from({ length: 500 }, (_, index) => index);
  const said = numbers.flatMap((number) => {
    const callId = `c${number}`;
    return [reply(number, '', [call(callId)]), toolStarted(callId), toolEnded(callId, 'ok')];
  });
  let { state } = startMessage(options('v6'));
  let most = 0;
  for (const moment of moments(...said)) {
    ({ state } = tellMoment(state, moment));
    most = Math.max(most, state.calls.size);
  }
  expect(most).toBe(1);
  expect(chunksOf(moments(...said), options('v6'))).toHaveLength(4 * numbers.length + 4);
});

test('a failed run is an error of the client, without words of the inside', () => {
  const said = moments(over('failed', 'model_error'));
  const last: UiChunk | undefined = chunksOf(said, options('v6')).at(-1);
  expect(last).toEqual({ type: 'error', errorText: 'The run has failed: model_error.' });
});

test('a stored conversation is the messages of a chat', () => {
  const messages = messagesOf([
    { messageId: `${RUN}:m0`, role: 'user', text: 'Look.' },
    {
      messageId: `${RUN}:m1`,
      role: 'assistant',
      text: 'I look.',
      calls: [{ id: 'c1', tool: 'act', args: { n: 1 } }],
    },
    { messageId: `${RUN}:m2`, role: 'user', results: [{ id: 'c1', isError: false, text: '[1]' }] },
    { messageId: `${RUN}:m3`, role: 'user', text: 'Go on.', flags: ['synthetic'] },
    { messageId: `${RUN}:m4`, role: 'assistant', text: 'Done.' },
  ]);
  expect(messages.map(({ id, role }) => [id, role])).toEqual([
    [`${RUN}:m0`, 'user'],
    [RUN, 'assistant'],
  ]);
  expect(shown(messages[1]!.parts as readonly ClientPart[])).toEqual([
    'step',
    'text I look.',
    'tool-act output-available [1]',
    'step',
    'text Done.',
  ]);
});

test('the projection runs in a browser: it has none of Node’s modules', () => {
  const { outputFiles, metafile } = buildSync({
    entryPoints: [join(__dirname, '..', '..', 'http', 'projection', 'index.ts')],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs.filter((file) => !/\/?http\/projection\//.test(file))).toEqual([]);
  expect(outputFiles[0]!.contents.byteLength).toBeLessThan(24_500);
});
