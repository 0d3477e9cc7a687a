import fc from 'fast-check';
import { isWebAddress, placeWords, sourcesOf } from '../../pure/sources.js';

const text = (...citations: readonly object[]) => [{ type: 'text', text: 'So it is.', citations }];
const responses = (...annotations: readonly object[]) => ({
  output: [{ type: 'message', content: [{ type: 'output_text', text: 'So.', annotations }] }],
});
const parts = (...sources: readonly object[]) => ({
  vendor: 'v',
  parts: sources.map((one) => ({ type: 'source', ...one })),
});

describe('a reply cites', () => {
  test.each<readonly [string, unknown, readonly object[]]>([
    [
      'a page of a search of the web',
      text({
        type: 'web_search_result_location',
        url: 'https://example.com/a?b=c',
        title: 'A',
        cited_text: 'It is so.',
        encrypted_index: 'b3BhcXVl',
      }),
      [
        {
          kind: 'url',
          url: 'https://example.com/a?b=c',
          title: 'A',
          passages: [{ text: 'It is so.' }],
        },
      ],
    ],
    [
      'characters of a document',
      text({
        type: 'char_location',
        document_index: 0,
        document_title: 'Policy',
        cited_text: 'Refunds take 5 days.',
        start_char_index: 0,
        end_char_index: 20,
        file_id: 'file_1',
      }),
      [
        {
          kind: 'document',
          title: 'Policy',
          mediaType: 'text/plain',
          fileId: 'file_1',
          passages: [{ text: 'Refunds take 5 days.', unit: 'characters', from: 0, to: 20 }],
        },
      ],
    ],
    [
      'pages of a document without a title',
      text({
        type: 'page_location',
        document_index: 1,
        document_title: null,
        cited_text: 'x',
        start_page_number: 3,
        end_page_number: 5,
      }),
      [
        {
          kind: 'document',
          title: 'Document',
          mediaType: 'application/pdf',
          passages: [{ text: 'x', unit: 'pages', from: 3, to: 5 }],
        },
      ],
    ],
    [
      'blocks of a document',
      text({
        type: 'content_block_location',
        document_index: 0,
        document_title: 'List',
        cited_text: 'x',
        start_block_index: 0,
        end_block_index: 1,
      }),
      [
        {
          kind: 'document',
          title: 'List',
          mediaType: 'text/plain',
          passages: [{ text: 'x', unit: 'blocks', from: 0, to: 1 }],
        },
      ],
    ],
    [
      'a result of a search that has no address',
      text({
        type: 'search_result_location',
        source: 'kb/17',
        title: null,
        cited_text: 'x',
        search_result_index: 0,
        start_block_index: 0,
        end_block_index: 2,
      }),
      [
        {
          kind: 'document',
          title: 'kb/17',
          mediaType: 'text/plain',
          passages: [{ text: 'x', unit: 'blocks', from: 0, to: 2 }],
        },
      ],
    ],
    [
      'annotations of Responses',
      responses(
        { type: 'url_citation', url: 'http://a.example', title: 'A', start_index: 0, end_index: 3 },
        { type: 'file_citation', file_id: 'file-1', filename: 'a.txt', index: 3 },
        {
          type: 'container_file_citation',
          container_id: 'cntr_1',
          file_id: 'cfile_1',
          filename: 'plot.png',
        },
      ),
      [
        { kind: 'url', url: 'http://a.example', title: 'A' },
        {
          kind: 'document',
          title: 'a.txt',
          mediaType: 'text/plain',
          filename: 'a.txt',
          fileId: 'file-1',
        },
        {
          kind: 'document',
          title: 'plot.png',
          mediaType: 'application/octet-stream',
          filename: 'plot.png',
          fileId: 'cfile_1',
        },
      ],
    ],
    [
      'sources of a model of the AI SDK',
      parts(
        { sourceType: 'url', url: 'https://a.example/x', title: 'A' },
        {
          sourceType: 'document',
          mediaType: 'application/pdf',
          title: 'Terms',
          filename: 'terms.pdf',
        },
      ),
      [
        { kind: 'url', url: 'https://a.example/x', title: 'A' },
        {
          kind: 'document',
          title: 'Terms',
          mediaType: 'application/pdf',
          filename: 'terms.pdf',
        },
      ],
    ],
    [
      'nothing that this release knows',
      text({ type: 'of_tomorrow', url: 'https://a.example' }),
      [],
    ],
    ['nothing without content', null, []],
  ])('%s', (_, raw, sources) => {
    expect(sourcesOf(raw)).toEqual(sources);
  });
});

test('a source is named once with all its passages, and two documents of one title are two', () => {
  const cited = (document_index: number, cited_text: string) => ({
    type: 'char_location',
    document_index,
    document_title: 'T',
    cited_text,
    start_char_index: 1,
    end_char_index: 2,
  });
  const sources = sourcesOf(text(cited(0, 'a'), cited(1, 'b'), cited(0, 'c')));
  expect(sources.map(({ passages = [] }) => passages.map((one) => one.text))).toEqual([
    ['a', 'c'],
    ['b'],
  ]);
});

test('few and short sources are left of many and long ones', () => {
  const cited = (url: string, words: string) => ({
    type: 'web_search_result_location',
    url,
    title: 'T'.repeat(5_000),
    cited_text: words,
  });
  const many = Array.from({ length: 5_000 }, (_, n) => cited(`https://e/${n % 300}`, `${n}`));
  const sources = sourcesOf(text(...many, cited('https://e/1', '🙂'.repeat(5_000))));
  expect(sources).toHaveLength(100);
  expect(JSON.stringify(sources).length).toBeLessThan(100 * (2_048 + 300 + 10 * 600));
  for (const { title, passages } of sources) {
    expect(title).toHaveLength(300);
    expect(passages).toHaveLength(10);
  }
  const cut = sourcesOf(text(cited('https://e/1', `x${'🙂'.repeat(5_000)}`)))[0]?.passages?.[0];
  expect(cut?.text).not.toMatch(/\p{Surrogate}/u);
  expect(sourcesOf(text(cited(`https://e/${'x'.repeat(3_000)}`, 'x')))).toMatchObject([
    { kind: 'document' },
  ]);
});

test.each([
  'javascript:alert(1)',
  'data:text/html,<b>',
  'file:///etc/passwd',
  'https://bank.example@evil.example/',
  'https://user:word@evil.example',
  'https:\\evil.example',
  ' https://a.example',
  'https://a.example/\u202Egpj.exe',
  'https://a.example/\n"onclick="x',
  '//a.example',
  'https://',
  7,
  null,
])('%j is no address of the web', (address) => {
  expect(isWebAddress(address)).toBe(false);
  const cited = { type: 'web_search_result_location', url: address as string, title: 'Bank' };
  expect(sourcesOf(text(cited))).toMatchObject([{ kind: 'document', title: 'Bank' }]);
});

test('content of any shape gives sources of the right shape, and nothing is thrown', () => {
  const loose = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.jsonValue(),
      fc.constantFrom('source', 'url_citation', 'char_location', 'https://a.example'),
      fc.dictionary(
        fc.constantFrom('type', 'url', 'title', 'citations', 'annotations', 'content', 'output'),
        tie('value'),
      ),
      fc.array(tie('value'), { maxLength: 4 }),
    ),
  })).value;
  fc.assert(
    fc.property(loose, (raw) => {
      for (const source of sourcesOf(raw)) {
        if (source.kind === 'url') expect(isWebAddress(source.url)).toBe(true);
        else expect(typeof source.title).toBe('string');
      }
    }),
  );
});

test('a place is told as people count', () => {
  expect(placeWords({ unit: 'pages', from: 3, to: 4 })).toBe('page 3');
  expect(placeWords({ unit: 'pages', from: 3, to: 6 })).toBe('pages 3–5');
  expect(placeWords({ unit: 'characters', from: 4, to: 4 })).toBe('character 4');
  expect(placeWords({ text: 'x' })).toBe('');
});
