import { defaultPayloadConverter, RawValue, type Payload } from '@temporalio/common';
import { isUndecodable, payloadConverter } from '../../workflows/payload-converter.js';

const VALUES: readonly unknown[] = [
  { a: 1, nested: { list: [1, 'two', null, true], empty: {} } },
  { text: 'Grüße, 世界, 🙂, \u0000, \ud800 alone, \u2028' },
  ['one', undefined, () => 1],
  { left: undefined, at: new Date(0) },
  { toJSON: () => 'another' },
  { toJSON: () => undefined },
  new Map([[1, 2]]),
  new Date(0),
  Object.create(null),
  new Uint8Array([1, 2, 255]),
  new RawValue({ raw: true }),
  'a text',
  '',
  0,
  null,
  undefined,
];

function bytesOf({ metadata, data }: Payload) {
  return {
    metadata: Object.entries(metadata ?? {}).map(([key, bytes]) => [
      key,
      Buffer.from(bytes).toString(),
    ]),
    data: data && Buffer.from(data).toString('hex'),
  };
}

function tried<T>(work: () => T): T | string {
  try {
    return work();
  } catch (error) {
    return String(error);
  }
}

function expectReadAlike(payload: Payload): void {
  const own = payloadConverter.fromPayload(payload);
  const read = tried(() => ({ value: defaultPayloadConverter.fromPayload(payload) }));
  if (typeof read === 'string') expect(isUndecodable(own)).toBe(true);
  else expect(own).toEqual(read.value);
}

test('a payload has the bytes that the SDK would give it', () => {
  for (const value of VALUES) {
    const own = tried(() => bytesOf(payloadConverter.toPayload(value)));
    expect(own).toEqual(tried(() => bytesOf(defaultPayloadConverter.toPayload(value))));
  }
});

test('what cannot be written as JSON is refused as the SDK refuses it', () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  for (const value of [circle, { big: 1n }])
    expect(() => payloadConverter.toPayload(value)).toThrow('Unable to convert');
});

test('a payload is read as the SDK reads it', () => {
  for (const value of VALUES) {
    const payload = tried(() => defaultPayloadConverter.toPayload(value));
    if (typeof payload !== 'string') expectReadAlike(payload);
  }
});

const encoding = Buffer.from('json/plain');

/** Whether they are UTF-8 or not. */
const BYTES: readonly (readonly number[])[] = [
  [],
  [0xef, 0xbb, 0xbf, 0x22, 0x61, 0x22],
  [0x22, 0xff, 0x22],
  [0x22, 0xed, 0xa0, 0x80, 0x22],
  [0x22, 0xc3, 0x22],
  [0x22, 0xf0, 0x9f, 0x99, 0x82, 0x22],
  [0x7b],
];

test('bytes from outside are read as the SDK reads them, or marked', () => {
  for (const bytes of BYTES) {
    expectReadAlike({ metadata: { encoding }, data: Uint8Array.from(bytes) });
  }
});

test('a payload of an unknown encoding, or of none, is marked', () => {
  const data = Buffer.from('"a"');
  const unknown: readonly Payload[] = [
    { metadata: {}, data },
    { metadata: { encoding: Buffer.from('json/other') }, data },
    { data },
  ];
  for (const payload of unknown)
    expect(isUndecodable(payloadConverter.fromPayload(payload))).toBe(true);
});
