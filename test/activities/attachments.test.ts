/** Pictures, documents and sounds on their way from the store to a model, and from tools into the store. */
import { z } from 'zod';
import { withFiles } from '../../authoring/index.js';
import type { Attachment } from '../../core/state/attachment.js';
import type { Json } from '../../core/json/json.js';
import type { ModelRoute } from '../../core/state/model.js';
import type { TranscriptItem } from '../../core/state/transcript.js';
import { prepareAttachment } from '../../attachments/attach.js';
import type { JsonRecord } from '../../providers/json-record.js';
import { pdf, png } from '../attachment-files.js';
import {
  attempt,
  effect,
  failureFrom,
  modelInput,
  openedHead,
  ROUTE,
  RUN,
  startBed,
  type Bed,
} from './setup.js';
import { bedWith, execute, KEYED_WRITE } from './tool-bed.js';

const TAKES = { image: 1_600, documentPage: 4_000 };
const SEES = { ...ROUTE, takes: TAKES };

let bed: Bed;
afterEach(() => bed.end());

async function stored(data: Buffer, name?: string): Promise<Attachment> {
  const { attachment, text } = prepareAttachment({ data, ...(name !== undefined && { name }) });
  await bed.store.putBlob('default', text);
  return attachment;
}

const userItem = (attachments: readonly Attachment[], n = 0): TranscriptItem => ({
  kind: 'user',
  messageId: `run_1:m${n}`,
  content: { text: 'See.' },
  attachments,
});

/** Content of the last message that the vendor got. */
/** Without the mark up to which the vendor keeps the conversation (test/providers/cached-prefix). */
function lastContent(): readonly Json[] {
  const body = JSON.parse(bed.model.requests().at(-1)?.body ?? '{}') as {
    readonly messages: readonly { readonly content: readonly JsonRecord[] }[];
  };
  return (body.messages.at(-1)?.content ?? []).map(({ cache_control: _mark, ...block }) => block);
}

const ask = async (append: readonly TranscriptItem[], route: ModelRoute = SEES) =>
  attempt(bed.activities().call_model, modelInput(await openedHead(bed), { append, route }));

describe('call_model', () => {
  beforeEach(async () => {
    bed = await startBed({ replies: [{ text: 'A cat.' }] });
  });

  test('sends the bytes of what the model reads; the conversation has the reference alone', async () => {
    const cat = await stored(png(), 'cat.png');
    const { head } = await ask([userItem([cat, await stored(pdf(2))])]);
    expect(lastContent()).toEqual([
      { type: 'text', text: 'See.' },
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: png().toString('base64') },
      },
      {
        type: 'document',
        source: {
          type: 'base64',
          media_type: 'application/pdf',
          data: pdf(2).toString('base64'),
        },
      },
    ]);
    const [, message] = await bed.store.readChain('default', head);
    expect(message?.blocks[1]).toEqual({ type: 'attachment', attachment: cat });
  });

  test('tells a model in words of what it does not read', async () => {
    await ask([userItem([await stored(png(), 'cat.png')])], ROUTE);
    expect(lastContent().at(-1)).toEqual({
      type: 'text',
      text: expect.stringMatching(/^\[The picture "cat.png" \(image\/png, 33 bytes\) is not shown/),
    });
  });

  test('sends no other text of the store in place of a file, and says what is gone', async () => {
    const secret = await bed.store.putBlob('default', 'The salary of Pat is 7.');
    const named = { ...secret, mediaType: 'image/png' } as const;
    const gone = { ...(await stored(png())), $blob: '0'.repeat(64) };
    await ask([userItem([named, gone])]);
    const words = (why: string) => ({ type: 'text', text: expect.stringContaining(why) });
    expect(lastContent()).toEqual([
      { type: 'text', text: 'See.' },
      words('is not what its reference says'),
      words('bytes are not in the store'),
    ]);
  });

  test.each([{ pages: 1 }, { bytes: 4 }, { pages: 2, bytes: 4 }])(
    'sends no file that is larger than its reference says: %j',
    async (facts) => {
      await ask([userItem([{ ...(await stored(pdf(3))), ...facts }])]);
      expect(lastContent().at(-1)).toEqual({
        type: 'text',
        text: expect.stringContaining('what is stored is not what its reference says'),
      });
    },
  );

  test('sends no more pages than the model takes in a request, the newest first', async () => {
    const documents = [await stored(pdf(60), 'old.pdf'), await stored(pdf(50), 'new.pdf')];
    const append = documents.map((one, n) => userItem([one], n));
    await ask(append, { ...SEES, takes: { ...TAKES, documentPages: 100 } });
    const said = JSON.stringify(JSON.parse(bed.model.requests().at(-1)?.body ?? '{}'));
    expect(said).toContain(pdf(50).toString('base64'));
    expect(said).not.toContain(pdf(60).toString('base64'));
  });

  test('sends the newest twenty, the older ones in words', async () => {
    const pictures: Attachment[] = [];
    for (let n = 1; n <= 25; n += 1) pictures.push(await stored(png(n, n)));
    await ask([userItem(pictures.slice(0, 10), 0), userItem(pictures.slice(10), 1)]);
    const types = lastContent().map((block) => (block as { readonly type: string }).type);
    expect(types.filter((type) => type === 'image')).toHaveLength(20);
    expect(types.slice(1, 6)).toEqual(['image', 'image', 'image', 'image', 'image']);
    expect(JSON.stringify(lastContent()).match(/newer files take the room/g)).toHaveLength(5);
  });
});

describe('open_run', () => {
  const opening = (attachments: readonly Attachment[]) =>
    attempt(bed.activities().open_run, {
      v: 1 as const,
      run: RUN,
      segment: 0,
      start: { v: 1 as const, agent: 'helper', task: { goal: 'Do it.', attachments } },
      events: [],
    });

  test('refuses for good what the model does not read, and names the model', async () => {
    bed = await startBed();
    expect(await failureFrom(opening([await stored(png())]))).toMatchObject({
      type: 'UnsupportedContent',
      nonRetryable: true,
      message: expect.stringContaining('The model scripted/test does not read image/png.'),
    });
  });

  test('refuses more pages than the model takes in a request', async () => {
    bed = await startBed({ takes: { ...TAKES, documentPages: 100 } });
    expect(
      await failureFrom(opening([await stored(pdf(60)), await stored(pdf(50))])),
    ).toMatchObject({
      message: expect.stringMatching(/have 110 pages; the model .* takes 100 in a request/),
    });
  });

  test('takes what is there, and refuses what is not', async () => {
    bed = await startBed({ takes: TAKES });
    const there = await stored(png());
    expect((await opening([there])).frozen?.route.takes).toEqual(TAKES);
    const elsewhere = { ...there, $blob: '1'.repeat(64), name: 'cat.png' };
    expect(await failureFrom(opening([elsewhere]))).toMatchObject({
      type: 'UnsupportedContent',
      message: expect.stringContaining('The attachment cat.png is not in the store'),
    });
    const long = { ...(await stored(pdf(3), 'long.pdf')), pages: 1 };
    expect(await failureFrom(opening([long]))).toMatchObject({
      type: 'UnsupportedContent',
      message: expect.stringContaining('The attachment long.pdf is not what its reference says'),
    });
  });
});

describe('a tool that returns files beside its value', () => {
  const files = [{ data: png(), name: 'chart.png' }, { data: pdf() }];

  test('has them in the store, and its value alone is held against its schema', async () => {
    bed = await bedWith(() => withFiles({ n: 1 }, files), { output: z.object({ n: z.number() }) });
    const { outcome } = await execute(bed);
    expect(outcome).toMatchObject({
      kind: 'ok',
      content: { text: '{"n":1}' },
      attachments: [{ mediaType: 'image/png', name: 'chart.png' }, { pages: 1 }],
    });
    const { attachments = [] } = outcome.kind === 'ok' ? outcome : {};
    const text = await bed.store.getBlob('default', attachments[0]?.$blob ?? '');
    expect(text).toBe(png().toString('base64'));
  });

  test('gives the same ones when its effect is found in the ledger', async () => {
    bed = await bedWith(() => withFiles('stored', files), KEYED_WRITE);
    const first = await execute(bed);
    const again = await execute(bed, effect());
    expect(first.outcome).toMatchObject({ attachments: [{ name: 'chart.png' }, {}] });
    expect(again.outcome).toEqual({ ...first.outcome, reused: true });
  });

  test.each([
    [[{ data: Buffer.from('text') }], /none of the types/],
    [Array.from({ length: 9 }, () => ({ data: png() })), /more than 8 files/],
    [Array.from({ length: 8 }, () => ({ data: big() })), /bytes; 20000000 are allowed/],
  ])('has a malformed result when one of them cannot be used: %#', async (given, words) => {
    bed = await bedWith(() => withFiles({}, given));
    expect((await execute(bed)).outcome).toMatchObject({
      kind: 'error',
      code: 'malformed_result',
      message: expect.stringMatching(words),
    });
  });
});

function big(): Buffer {
  return Buffer.concat([png(), Buffer.alloc(3_700_000)]);
}
