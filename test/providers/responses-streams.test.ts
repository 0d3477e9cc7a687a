/** Streams of responses that lose or rename on their way what other streams keep. */
import {
  acceptResponseEvent,
  newResponseAssembly,
} from '../../providers/openai/responses-assembly.js';
import { responseReplyOf } from '../../providers/openai/responses-reply.js';
import type { ModelReply } from '../../providers/provider.js';
import { BadStream } from '../../providers/stream-errors.js';

import { assembled } from './assembled.js';
import { cutPlaces, sayCutPlaces } from './cut-places.js';
import { recordedStreams } from './recorded-streams.js';

type Event = { readonly type: string; readonly [key: string]: unknown };
type Item = { readonly type: string; readonly [key: string]: unknown };

const CALL: Item = { type: 'function_call', call_id: 'c', name: 't', arguments: '{"a":1}' };
const SAID: Item = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'So.' }],
};
const THOUGHT: Item = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] };

const created: Event = { type: 'response.created', response: { id: 'r', model: 'm' } };
const added = (output_index: number, item: Item): Event => ({
  type: 'response.output_item.added',
  output_index,
  item: { ...item, arguments: '', content: [] },
});
const done = (output_index: number, item: Item): Event => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
const delta = (output_index: number, text: string, kind = 'output_text'): Event => ({
  type: `response.${kind}.delta`,
  output_index,
  delta: text,
});
const completed = (output: readonly Item[] = [], id = 'r'): Event => ({
  type: 'response.completed',
  response: { id, model: 'm', status: 'completed', output, usage: { output_tokens: 4 } },
});
const whole = (index: number, item: Item): readonly Event[] => [
  added(index, item),
  done(index, item),
];

function replyTo(events: readonly Event[]): ModelReply {
  const assembly = newResponseAssembly();
  for (const event of events) {
    acceptResponseEvent(assembly, { event: '', data: JSON.stringify(event) });
  }
  expect(assembly.finished).toBe(true);
  return responseReplyOf(assembly, { model: 'm', usedIds: new Set(), call: 1, prefix: 'p' });
}

/** As a vendor numbers its events. */
function numbered(events: readonly Event[]): readonly Event[] {
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** With another id for everything in every event. */
function renaming(events: readonly Event[]): readonly Event[] {
  let count = 0;
  const fresh = (): string => `id${(count += 1)}`;
  const named = (item: Item): Item => ({ ...item, id: fresh() });
  return events.map((event) => {
    const { item, response } = event as { item?: Item; response?: { output?: readonly Item[] } };
    return {
      ...event,
      item_id: fresh(),
      ...(item && { item: named(item) }),
      ...(response && {
        response: { ...response, id: fresh(), output: (response.output ?? []).map(named) },
      }),
    };
  });
}

const STREAM: readonly Event[] = [
  created,
  ...whole(0, THOUGHT),
  added(1, SAID),
  delta(1, 'So.'),
  done(1, SAID),
  added(2, CALL),
  delta(2, '{"a":1}', 'function_call_arguments'),
  done(2, CALL),
];
const REPLY = {
  stop: 'tool_use',
  blocks: [
    { type: 'thinking', text: 'Hm.' },
    { type: 'text', text: 'So.' },
    { type: 'tool_use', id: 'c', tool: 't', args: { a: 1 } },
  ],
};

describe('a response whose ids are other ones in every event', () => {
  test.each<[string, readonly Event[]]>([
    ['the vendor numbers its events', numbered([...STREAM, completed()])],
    ['its end repeats what came', [...STREAM, completed([THOUGHT, SAID, CALL])]],
  ])('is taken where %s', (_, events) => {
    const reply = replyTo(renaming(events));
    expect(reply).toMatchObject(REPLY);
    expect(reply.missing).toBeUndefined();
  });

  test('cannot be referred to', () => {
    expect(replyTo([...STREAM, completed()]).raw).toMatchObject({ id: 'r', prefix: 'p' });
    const { raw } = replyTo(numbered(renaming([...STREAM, completed()])));
    expect(raw).not.toHaveProperty('id');
  });

  test.each<[string, readonly Event[]]>([
    ['nothing shows that it is one stream', [...STREAM, completed([], 'q')]],
    ['its end is of another', [...STREAM, completed([SAID], 'q')]],
    [
      'its end makes another call',
      [...STREAM, completed([THOUGHT, SAID, { ...CALL, arguments: '{"a":2}' }], 'q')],
    ],
    [
      'an event is lacking',
      numbered([...STREAM, completed([], 'q')]).filter((_event, index) => index !== 4),
    ],
    [
      'an event has no number',
      [...numbered(STREAM.slice(0, -1)), STREAM.at(-1)!, completed([], 'q')],
    ],
  ])('is refused where %s', (_, events) => {
    expect(() => replyTo(events)).toThrow(BadStream);
  });
});

describe('a response of which a part never came', () => {
  test('brings what is whole, and names the rest', () => {
    const reply = replyTo([created, ...whole(0, SAID), ...whole(3, CALL), completed()]);
    expect(reply).toMatchObject({ stop: 'tool_use', blocks: REPLY.blocks.slice(1) });
    expect(reply.missing).toBe('items 1, 2 of the response');
  });

  test('misses nothing that its end says', () => {
    const end = completed([THOUGHT, SAID, CALL]);
    const reply = replyTo([created, ...whole(0, THOUGHT), ...whole(2, CALL), end]);
    expect(reply).toMatchObject(REPLY);
    expect(reply.missing).toBeUndefined();
  });

  test('takes an item that comes only when it is done', () => {
    const reply = replyTo([
      created,
      delta(0, '{"a', 'function_call_arguments'),
      done(0, CALL),
      completed(),
    ]);
    expect(reply.blocks).toEqual(REPLY.blocks.slice(2));
    expect(reply.missing).toBeUndefined();
  });

  test('has no call of which only pieces came', () => {
    const reply = replyTo([
      created,
      ...whole(0, SAID),
      delta(1, '{"a":1}', 'function_call_arguments'),
      completed(),
    ]);
    expect(reply.blocks).toEqual(REPLY.blocks.slice(1, 2));
    expect(reply.missing).toBe('item 1 of the response');
  });

  test('keeps the text of a message without its end, and says so', () => {
    const reply = replyTo([created, added(0, SAID), delta(0, 'So'), completed()]);
    expect(reply.blocks).toEqual([{ type: 'text', text: 'So' }]);
    expect(reply.missing).toBe('the end of item 0 of the response');
  });

  test('is told whole the next time: the vendor may know more of it than came', () => {
    const named = { ...CALL, id: 'fc_1' };
    const { raw } = replyTo([created, ...whole(1, named), completed()]);
    expect(raw).toEqual({ output: [CALL] });
  });

  test('names a bounded number of its parts', () => {
    const { missing } = replyTo([created, ...whole(900, SAID), completed()]);
    expect(missing?.length).toBeLessThan(200);
    expect(missing).toContain('900 items');
  });

  test.each<[string, readonly Event[]]>([
    ['goes back in its order', [created, ...whole(1, SAID), ...whole(0, CALL)]],
    ['begins an item twice', [created, added(0, CALL), ...whole(0, CALL)]],
    ['ends an item as another', [created, ...whole(0, CALL), done(0, { ...CALL, call_id: 'd' })]],
    ['has a hostile place', [created, ...whole(-1, CALL)]],
    ['has a place out of all bounds', [created, ...whole(1e9, CALL)]],
    ['goes on after the end of an item', [created, ...whole(0, SAID), delta(0, 'x')]],
    ['is complete without the end of a call', [created, added(0, CALL)]],
  ])('is refused where it %s', (_, events) => {
    expect(() => replyTo([...events, completed()])).toThrow(BadStream);
  });
});

test('none of them is a reply when it ends too early, wherever it is cut', () => {
  sayCutPlaces('streams of responses');
  const streams = [
    renaming(numbered([...STREAM, completed()])),
    [created, ...whole(0, SAID), ...whole(3, CALL), completed()],
  ];
  for (const events of streams) {
    const bytes = Buffer.from(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''));
    const { reply } = assembled('responses', [bytes]);
    for (const at of cutPlaces(bytes.lastIndexOf('}'))) {
      const early = assembled('responses', [bytes.subarray(0, at)]);
      expect([early.complete, early.error]).toEqual([false, undefined]);
      const cut = assembled('responses', [bytes.subarray(0, at), bytes.subarray(at)]);
      expect(cut.reply).toEqual(reply);
    }
  }
});

test('recorded streams miss nothing', () => {
  for (const { dialect, bytes } of recordedStreams()) {
    expect(assembled(dialect, [bytes]).reply?.missing).toBeUndefined();
  }
});
