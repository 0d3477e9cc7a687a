import fc from 'fast-check';
import { acceptEvent, newAssembly, type Assembly } from '../../providers/anthropic/assembly.js';
import { BadStream } from '../../providers/stream-errors.js';
import { replyOf } from '../../providers/anthropic/reply.js';
import type { ModelReply } from '../../providers/provider.js';
import { assembled } from './assembled.js';
import { unparsedText } from '../../providers/tool-arguments.js';

type Event = readonly [string, Record<string, unknown>];

const START: Event = [
  'message_start',
  { message: { model: 'm', usage: { input_tokens: 5, output_tokens: 1 } } },
];
const CALL: readonly Event[] = [
  [
    'content_block_start',
    { index: 0, content_block: { type: 'tool_use', id: 'c', name: 't', input: {} } },
  ],
  [
    'content_block_delta',
    { index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
  ],
  ['content_block_stop', { index: 0 }],
];
const END: readonly Event[] = [
  ['message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } }],
  ['message_stop', {}],
];

function assemble(events: readonly Event[]): Assembly {
  const assembly = newAssembly();
  for (const [event, data] of events) {
    acceptEvent(assembly, { event, data: JSON.stringify({ type: event, ...data }) });
  }
  return assembly;
}

function reply(events: readonly Event[]): ModelReply {
  return replyOf(assemble(events), {
    model: 'm',
    usedIds: new Set(),
    call: 1,
    earlier: [],
    hosted: [],
  });
}

const calls = ({ blocks }: ModelReply): number =>
  blocks.filter((block) => block.type === 'tool_use').length;

describe('the assembly of a stream', () => {
  test('takes a well-ordered message', () => {
    expect(reply([START, ...CALL, ...END])).toMatchObject({
      stop: 'tool_use',
      usage: { input: 5, output: 9 },
    });
  });

  test.each<[string, readonly Event[]]>([
    ['a second message_start', [START, ...CALL, START]],
    ['a spliced message', [START, ...CALL, START, ...CALL, ...END]],
    ['a block started twice', [START, CALL[0]!, CALL[0]!]],
    [
      'a missing block',
      [START, ['content_block_start', { index: 1, content_block: { type: 'text' } }]],
    ],
    ['a delta without its block', [START, CALL[1]!]],
    ['a delta after its block', [START, ...CALL, CALL[1]!]],
    ['a block before the message', CALL],
    ['a block after the stop reason', [START, END[0]!, ...CALL]],
    ['an end without a stop reason', [START, ...CALL, END[1]!]],
    ['an end without a message', END],
    ['a call without its end', [START, CALL[0]!, CALL[1]!, ...END]],
    [
      'two stop reasons',
      [START, ...CALL, END[0]!, ['message_delta', { delta: { stop_reason: 'end_turn' } }]],
    ],
    ['a hostile index', [START, ['content_block_stop', { index: '__proto__' }]]],
    [
      'a text delta in a tool call',
      [
        START,
        CALL[0]!,
        ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: '{}' } }],
      ],
    ],
  ])('refuses %s', (_, events) => {
    expect(() => assemble(events)).toThrow(BadStream);
  });

  test.each(['max_tokens', 'model_context_window_exceeded', 'refusal', 'something_new'])(
    'drops a call whose block never stopped before %s',
    (reason) => {
      const end: Event = ['message_delta', { delta: { stop_reason: reason } }];
      const dropped = reply([START, CALL[0]!, CALL[1]!, end, END[1]!]);
      expect([calls(dropped), dropped.incompleteCalls]).toEqual([0, 1]);
    },
  );

  test('skips events it does not know and a repeated block stop', () => {
    const odd: Event = ['new_event', { x: 1 }];
    expect(calls(reply([odd, START, odd, ...CALL, CALL[2]!, ...END]))).toBe(1);
  });

  test.each([[-5], [1.5], ['7'], [null], [1e300]])(
    'counts a reported %j tokens as none',
    (tokens) => {
      const end: Event = [
        'message_delta',
        { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: tokens } },
      ];
      expect(reply([START, end, END[1]!]).usage).toEqual({
        input: 5,
        output: 1,
        cacheRead: 0,
        cacheWrite: 0,
      });
    },
  );

  test('says when the vendor reported no final usage', () => {
    const end: Event = ['message_delta', { delta: { stop_reason: 'end_turn' } }];
    expect(reply([START, end, END[1]!]).usageSource).toBe('estimated');
    expect(reply([['message_start', { message: {} }], end, END[1]!]).usageSource).toBe('absent');
  });

  test('brings a call out of a damaged order only if its block was whole and in order', () => {
    const events = [START, ...CALL, ...END];
    const damage = fc.record({
      kind: fc.constantFrom('lose', 'repeat', 'swap'),
      at: fc.nat(events.length - 1),
      to: fc.nat(events.length - 1),
    });
    let brought = 0;
    fc.assert(
      fc.property(fc.array(damage, { maxLength: 3 }), (damages) => {
        const order = damages.reduce(damaged, [...events.keys()]);
        const made = replyUnlessRefused(order.map((index) => events[index]!));
        if (made === undefined || calls(made) === 0) return;
        brought += 1;
        const upToEnd = order.slice(0, order.indexOf(5) + 1);
        const firsts = upToEnd.filter((index, at) => upToEnd.indexOf(index) === at);
        // A lost delta of a call cannot be told from a call without arguments.
        expect(firsts.filter((index) => index !== 2)).toEqual([0, 1, 3, 4, 5]);
        const [block] = made.blocks;
        const args = block?.type === 'tool_use' ? block.args : undefined;
        const deltas = upToEnd.filter((index) => index === 2).length;
        const unreadable = deltas > 1 && unparsedText(args ?? null) !== undefined;
        if (!unreadable) expect(args).toEqual(deltas === 0 ? {} : { a: 1 });
      }),
      { numRuns: 3000 },
    );
    expect(brought).toBeGreaterThan(0);
  });
});

interface Damage {
  readonly kind: string;
  readonly at: number;
  readonly to: number;
}

function damaged(order: readonly number[], { kind, at, to }: Damage): number[] {
  if (kind === 'lose') return order.filter((_, index) => index !== at);
  const moved = order[at];
  if (moved === undefined) return [...order];
  const rest = kind === 'swap' ? order.filter((_, index) => index !== at) : [...order];
  return [...rest.slice(0, to), moved, ...rest.slice(to)];
}

/** Undefined when the stream was refused or did not end. */
function replyUnlessRefused(events: readonly Event[]): ModelReply | undefined {
  try {
    const assembly = assemble(events);
    return assembly.stopped
      ? replyOf(assembly, { model: 'm', usedIds: new Set(), call: 1, earlier: [], hosted: [] })
      : undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(BadStream);
    return undefined;
  }
}

describe('what the vendor runs itself', () => {
  const use = (index: number, id: string): readonly Event[] => [
    [
      'content_block_start',
      { index, content_block: { type: 'server_tool_use', id, name: 's', input: {} } },
    ],
    [
      'content_block_delta',
      { index, delta: { type: 'input_json_delta', partial_json: '{"q":1}' } },
    ],
    ['content_block_stop', { index }],
  ];
  const found = (index: number, id: string, content: unknown = []): readonly Event[] => [
    [
      'content_block_start',
      { index, content_block: { type: 's_tool_result', tool_use_id: id, content } },
    ],
    ['content_block_stop', { index }],
  ];
  const begin: readonly Event[] = [['message_start', { message: { model: 'm', usage: {} } }]];
  const end = (reason: string): readonly Event[] => [
    ['message_delta', { delta: { stop_reason: reason }, usage: { output_tokens: 9 } }],
    ['message_stop', {}],
  ];

  test('is told with its result, errors as such, and is no call of ours', () => {
    const failed = { type: 's_tool_result_error', error_code: 'max_uses_exceeded' };
    const { hosted, blocks, raw } = reply([
      ...begin,
      ...use(0, 'h'),
      ...found(1, 'h'),
      ...use(2, 'i'),
      ...found(3, 'i', failed),
      ...end('end_turn'),
    ]);
    expect(hosted).toEqual([
      { id: 'h', tool: 's', args: { q: 1 }, isError: false, result: [] },
      { id: 'i', tool: 's', args: { q: 1 }, isError: true, result: failed },
    ]);
    expect(blocks).toEqual([]);
    expect(raw).toHaveLength(4);
  });

  test('a use without a result is left out, but for a paused turn', () => {
    const open = [...begin, ...use(0, 'h')];
    expect(reply([...open, ...end('end_turn')]).raw).toEqual([]);
    expect(reply(open).raw).toEqual([]);
    const paused = reply([...open, ...end('pause_turn')]);
    expect(paused.raw).toHaveLength(1);
    expect(paused.hosted).toBeUndefined();
  });

  test('a use without a result beside a call of ours waits for that call, in its place', () => {
    const beside: readonly Event[] = [
      ...begin,
      ...use(0, 'h'),
      ...found(1, 'h'),
      ...use(2, 'i'),
      [
        'content_block_start',
        { index: 3, content_block: { type: 'tool_use', id: 'c', name: 't' } },
      ],
      ['content_block_stop', { index: 3 }],
    ];
    const waiting = reply([...beside, ...end('tool_use')]);
    expect(waiting.raw).toMatchObject([
      { id: 'h' },
      { tool_use_id: 'h' },
      { id: 'i' },
      { id: 'c' },
    ]);
    expect(waiting.hosted).toMatchObject([{ id: 'h' }]);
    expect(reply([...beside, ...end('refusal')]).raw).toHaveLength(2);
  });

  test('a result after a pause belongs to the use before it', () => {
    const earlier = [{ type: 'server_tool_use', id: 'h', name: 's', input: { q: 2 } }];
    const assembly = assemble([...begin, ...found(0, 'h'), ...end('end_turn')]);
    const resumed = replyOf(assembly, {
      model: 'm',
      usedIds: new Set(),
      call: 2,
      earlier,
      hosted: [],
    });
    expect(resumed.hosted).toMatchObject([{ id: 'h', args: { q: 2 } }]);
    expect(resumed.raw).toHaveLength(1);
  });
});

describe('a message that stands whole in its beginning', () => {
  const called = { type: 'tool_use', id: 'c', name: 't', input: { a: 1 } };
  const begin = (message: Record<string, unknown>): Event => [
    'message_start',
    { message: { model: 'm', usage: { input_tokens: 3, output_tokens: 2 }, ...message } },
  ];
  const whole = begin({
    content: [{ type: 'text', text: 'So.' }, called],
    stop_reason: 'tool_use',
  });
  const stop: Event = ['message_stop', {}];

  test('is taken when it ends', () => {
    expect(reply([whole, stop])).toMatchObject({
      stop: 'tool_use',
      blocks: [
        { type: 'text', text: 'So.' },
        { type: 'tool_use', id: 'c', tool: 't', args: { a: 1 } },
      ],
      raw: [{ type: 'text' }, called],
      usage: { input: 3, output: 2 },
      usageSource: 'reported',
    });
  });

  test('is no message before its end', () => {
    expect(assemble([whole]).stopped).toBe(false);
    expect(() => assemble([begin({ content: [called], stop_reason: null }), stop])).toThrow(
      BadStream,
    );
  });

  test('is none wherever it is cut', () => {
    const events = [whole, stop].map(([type, data]) => JSON.stringify({ type, ...data }));
    const bytes = Buffer.from(events.map((data) => `data: ${data}\n\n`).join(''));
    const { reply: uncut } = assembled('messages', [bytes]);
    for (let at = 0; at < bytes.lastIndexOf('}'); at += 1) {
      const early = assembled('messages', [bytes.subarray(0, at)]);
      expect([early.complete, early.error]).toEqual([false, undefined]);
      const cut = assembled('messages', [bytes.subarray(0, at), bytes.subarray(at)]);
      expect(cut.reply).toEqual(uncut);
    }
  });

  test('may say the same end again, and go on where it stands', () => {
    const begun = begin({ content: [called] });
    const more: readonly Event[] = [
      ['content_block_start', { index: 1, content_block: { type: 'text', text: 'And' } }],
      ['content_block_stop', { index: 1 }],
    ];
    expect(reply([begun, ...more, ...END]).raw).toMatchObject([called, { text: 'And' }]);
    expect(reply([whole, ...END])).toMatchObject({ stop: 'tool_use', usage: { output: 9 } });
  });

  test.each<[string, readonly Event[]]>([
    ['that begins a block again', [whole, CALL[0]!]],
    ['that extends a block', [whole, ['content_block_delta', { index: 0, delta: {} }]]],
    ['with another end', [whole, ['message_delta', { delta: { stop_reason: 'end_turn' } }]]],
    ['with a block of no type', [begin({ content: [{}], stop_reason: 'end_turn' })]],
    ['with a block of no object', [begin({ content: ['x'], stop_reason: 'end_turn' })]],
  ])('is refused %s', (_, events) => {
    expect(() => assemble(events)).toThrow(BadStream);
  });

  test('without content says nothing of what follows', () => {
    const empty = begin({ content: [], stop_reason: 'end_turn' });
    expect(reply([empty, ...CALL, ...END]).stop).toBe('tool_use');
    expect(reply([empty, stop])).toMatchObject({ stop: 'end_turn', blocks: [] });
  });

  test('keeps the rules for calls that were cut off or refused', () => {
    const bare = { ...called, input: {} };
    for (const [reason, block] of [
      ['max_tokens', bare],
      ['refusal', called],
    ] as const) {
      const cut = reply([begin({ content: [block], stop_reason: reason }), stop]);
      expect([calls(cut), cut.incompleteCalls]).toEqual([0, 1]);
    }
  });
});
