/** What a server's tool returns beside text, for a model that reads it. */
import { isWithFiles } from '../../authoring/tool-files.js';
import { valueOf } from '../../connectors/call-result.js';
import type { Secrets } from '../../connectors/secrets.js';
import { pdf, png, wav } from '../attachment-files.js';

type Result = Parameters<typeof valueOf>[0];

const same = (text: string): string => text;
const SECRETS: Secrets = { hide: same, strip: same, redact: same, keep: () => undefined };

const image = (data: Buffer | string, mimeType = 'image/png') => ({
  type: 'image',
  mimeType,
  data: typeof data === 'string' ? data : data.toString('base64'),
});
const returned = (...content: readonly object[]) => valueOf({ content } as Result, SECRETS);

test('pictures, sounds and resources are files beside a value that tells of them', () => {
  const uri = 'file:///reports/2026%20Q3.pdf';
  const blob = pdf(2).toString('base64');
  const value = returned(
    { type: 'text', text: 'Here.' },
    image(png()),
    { type: 'audio', mimeType: 'audio/wav', data: wav().toString('base64') },
    { type: 'resource', resource: { uri, mimeType: 'application/pdf', blob } },
  );
  expect(isWithFiles(value) && value.files).toEqual([
    { data: png().toString('base64') },
    { data: wav().toString('base64') },
    { data: blob, name: '2026%20Q3.pdf' },
  ]);
  expect(isWithFiles(value) && value.value).toMatchObject({
    content: ['Here.', { type: 'image', mimeType: 'image/png', bytes: 33 }, {}, { uri }],
  });
});

test('structured content stays the value', () => {
  const result = { structuredContent: { n: 1 }, content: [image(png())] } as unknown as Result;
  expect(valueOf(result, SECRETS)).toMatchObject({ value: { n: 1 }, files: [{}] });
});

test.each([
  ['texts alone', [{ type: 'text', text: 'a' }], 'a'],
  ['no file at all', [image('aGVsbG8=')], { content: [{ type: 'image', bytes: 6 }] }],
  ['no base64', [image('??')], { content: [{ type: 'image' }] }],
  ['a picture with too many pixels', [image(png(9_000, 9_000))], { content: [{ bytes: 33 }] }],
])('%s make no files', (_, content, expected) => {
  const value = returned(...content);
  expect(isWithFiles(value)).toBe(false);
  if (typeof expected === 'string') expect(value).toBe(expected);
  else expect(value).toMatchObject(expected);
});

test('of many files the first eight are taken, and the value tells how many are left out', () => {
  const value = returned(...Array.from({ length: 12 }, () => image(png())));
  expect(isWithFiles(value) && value.files.length).toBe(8);
  const left = '[4 more files of this result are left out.]';
  expect(isWithFiles(value) && JSON.stringify(value.value)).toContain(left);
});
