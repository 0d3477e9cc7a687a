import { deflateSync } from 'node:zlib';
import { parseAttachment } from '../../core/messages/parse-attachments.js';
import { prepareAttachment } from '../../attachments/attach.js';
import { pdfPages } from '../../attachments/pdf-pages.js';
import { soundSeconds } from '../../attachments/sound-seconds.js';
import { isOfType, typeOf } from '../../attachments/sniff.js';
import { jpeg, packedPdf, pdf, pdfWithStream, png, wav } from '../attachment-files.js';

function refusalOf(source: Parameters<typeof prepareAttachment>[0]): unknown {
  try {
    return prepareAttachment(source);
  } catch (error) {
    return error;
  }
}

function oggPage(serial: number, samples: number, body: string): Buffer {
  const head = Buffer.alloc(28);
  head.write('OggS', 0, 'latin1');
  head.writeBigUInt64LE(BigInt(samples), 6);
  head.writeUInt32LE(serial, 14);
  head.writeUInt8(1, 26);
  head.writeUInt8(body.length, 27);
  return Buffer.concat([head, Buffer.from(body, 'latin1')]);
}

describe('a file that is attached', () => {
  test('is known by its first bytes', () => {
    const files = [png(), jpeg(), Buffer.from('GIF89a'), pdf(), wav(), Buffer.from('OggS')];
    expect(files.map(typeOf)).toEqual([
      'image/png',
      'image/jpeg',
      'image/gif',
      'application/pdf',
      'audio/wav',
      'audio/ogg',
    ]);
    expect(typeOf(Buffer.from('RIFF1234WEBPVP8 '))).toBe('image/webp');
    expect(typeOf(Buffer.from('#!/bin/sh'))).toBeUndefined();
    expect(typeOf(Buffer.alloc(0))).toBeUndefined();
  });

  test('is a reference with what bounds its tokens, and a text for the store', () => {
    const { attachment, text } = prepareAttachment({ data: pdf(3), name: 'a\nb.pdf' });
    expect(Buffer.from(text, 'base64')).toEqual(pdf(3));
    expect(attachment).toEqual({
      $blob: expect.stringMatching(/^[0-9a-f]{64}$/),
      bytes: text.length,
      mediaType: 'application/pdf',
      name: 'a b.pdf',
      pages: 3,
    });
    expect(parseAttachment(attachment)).toEqual({ ok: true, value: attachment });
    expect(prepareAttachment({ data: wav(7) }).attachment.seconds).toBe(7);
    expect(prepareAttachment({ data: png().toString('base64') }).attachment.mediaType).toBe(
      'image/png',
    );
  });

  test.each([
    [{ data: Buffer.from('hello') }, /none of the types/],
    [{ data: png(), mediaType: 'application/pdf' }, /is said to be application\/pdf/],
    [{ data: png(), mediaType: 'image/jpg' }, /is said to be image\/jpg and is image\/png/],
    [{ data: png(9_000, 2) }, /9000 by 2 pixels/],
    [{ data: png(0, 2) }, /size cannot be read/],
    [{ data: Buffer.concat([png(), Buffer.alloc(3_750_000)]) }, /3750000 are allowed/],
    [{ data: 'no base64!' }, /no base64/],
    [{ data: pdf(601) }, /601 pages; 600/],
    [{ data: Buffer.from('%PDF-1.4 /Encrypt 3 0 R') }, /encrypted/],
    [{ data: Buffer.from('%PDF-1.4 nothing') }, /pages cannot be counted/],
  ])('is refused where no model would read it: %#', (source, words) => {
    expect(refusalOf(source)).toMatchObject({
      code: 'UnsupportedContent',
      message: expect.stringMatching(words),
    });
  });

  test('is base64 with white space anywhere, looked through once', () => {
    const wrapped = png().toString('base64').replace(/.{8}/g, '$&\r\n ');
    expect(prepareAttachment({ data: wrapped }).attachment.mediaType).toBe('image/png');
    // A pattern that tries the white space anew from each place would take hours.
    const spaces = `${' '.repeat(10_000_000)}QQ= =A`;
    expect(refusalOf({ data: spaces })).toMatchObject({
      message: expect.stringMatching(/no base64/),
    });
  });

  test('is measured before its base64 is read', () => {
    expect(refusalOf({ data: 'A'.repeat(14_000_001) })).toMatchObject({
      message: expect.stringMatching(/14000001 characters; 14000000 are allowed/),
    });
  });

  test('is what it is said to be under any of its names', () => {
    expect(prepareAttachment({ data: jpeg(), mediaType: 'image/jpg' }).attachment.mediaType).toBe(
      'image/jpeg',
    );
  });

  test('counts the pages that a PDF has packed away, and unpacks no bomb', () => {
    expect(pdfPages(packedPdf(12))).toEqual({ ok: true, pages: 12 });
    const bomb = pdfWithStream(deflateSync(Buffer.alloc(80 * 1024 * 1024)));
    expect(pdfPages(bomb)).toEqual({ ok: false, why: 'unreadable' });
    expect(pdfPages(pdfWithStream(Buffer.from('no zlib')))).toEqual({
      ok: false,
      why: 'unreadable',
    });
  });

  const pdfOf = (...objects: readonly string[]) =>
    pdfPages(Buffer.from(`%PDF-1.5\n${objects.join('\n')}\n%%EOF`, 'latin1'));
  const packedIn = (head: string, inside: string) => {
    const packed = deflateSync(Buffer.from(inside, 'latin1')).toString('latin1');
    return `${head}\nstream\n${packed}\nendstream\nendobj`;
  };
  const ONE = '1 0 obj\n<</Type/Pages/Count 1/Kids[9 0 R]>>\nendobj';

  test('counts the pages of its tree, and no bookmarks, fields or names', () => {
    const outlines = '2 0 obj\n<</Type/Outlines/First 3 0 R/Count 900>>\nendobj';
    const field = `3 0 obj\n<</FT/Btn/Kids[${'4 0 R '.repeat(700)}]>>\nendobj`;
    expect(pdfOf(ONE, outlines, field)).toEqual({ ok: true, pages: 1 });
  });

  test.each([
    ['names are escaped', ['<</T#79pe/P#61ge>>'.repeat(50)], 50],
    ['white space is any', ['<</Type\0\0/Page>>'.repeat(50)], 50],
    ['one page is in the tree often', [`<</Count 1/Kids[${'9 0 R '.repeat(50)}]>>`], 50],
    [
      'an object begins on the next line',
      [packedIn('7 0\nobj<</Type/ObjStm/Filter/FlateDecode>>', '<</Type/Page>>'.repeat(50))],
      50,
    ],
    [
      'a packed one is escaped',
      [packedIn('7 0 obj<</Type/Obj#53tm/F#69lter/FlateDecode>>', '<</Type/Page>>'.repeat(50))],
      50,
    ],
  ])('counts pages that hide: %s', (_, objects, pages) => {
    expect(pdfOf(ONE, ...objects)).toEqual({ ok: true, pages });
  });

  test.each([
    ['a comment before its type', '<</Type%x\n/Page>>'],
    ['a type elsewhere', '<</Type 5 0 R>>'],
    ['a type far away', `<</Type${' '.repeat(101)}/Page>>`],
    ['a stream of no object', packedIn('<</Type/ObjStm/Filter/FlateDecode>>', 'x')],
    ['a stream without an end', '7 0 obj<</Type/ObjStm>>\nstream\n'],
    [
      'rows of a predictor',
      packedIn('7 0 obj<</Type/ObjStm/Filter/FlateDecode/DecodeParms<</Predictor 12>>>>', 'x'),
    ],
  ])('reads no PDF with %s', (_, object) => {
    expect(pdfOf(object.startsWith('<</Type/ObjStm') ? '<</Type/Page>>' : ONE, object)).toEqual({
      ok: false,
      why: 'unreadable',
    });
  });

  test('looks through the bytes of a stream once, however many begin in it', () => {
    const empty = deflateSync(Buffer.alloc(0)).toString('latin1');
    const head = `1 0 obj<</Type/ObjStm/Filter/FlateDecode>>stream\n${empty}\n`;
    const padding = ' '.repeat(8_000_000);
    const unread = { ok: false, why: 'unreadable' };
    expect(pdfOf(ONE, head.repeat(3_000), padding)).toEqual(unread);
    expect(pdfOf(ONE, head.repeat(3_000), padding, 'endstream')).toEqual(unread);
  });

  const pageOf = (content: string) =>
    prepareAttachment({
      data: Buffer.from(
        `%PDF-1.5\n${ONE}\n${packedIn('5 0 obj<</Length 1/Filter/FlateDecode>>', content)}`,
        'latin1',
      ),
    }).attachment;

  test('has the text of its pages where they have more than pages have as a rule', () => {
    const line = '[(A \\(long\\) line)-20(of a sheet)]TJ\n<00410042>Tj\n';
    const lines = line.repeat(1_000);
    expect(pageOf(`BT ${lines} ET`)).toMatchObject({ pages: 1, textBytes: 29_000 });
    expect(pageOf(line)).not.toHaveProperty('textBytes');
    const drawn = '10 10 m 20 20 l S (no text) pop\n'.repeat(10_000);
    expect(pageOf(drawn)).not.toHaveProperty('textBytes');
    expect(pageOf(`(${'x'.repeat(100_000)}`)).not.toHaveProperty('textBytes');
  });

  test('is refused where its text unpacks to too much', () => {
    expect(() => pageOf(' '.repeat(65 * 1024 * 1024))).toThrow(/its text cannot be measured/);
  });

  test('lasts as long as its header says in the longest of its ways', () => {
    const sound = wav(7);
    // A hostile rate beside 8,000 samples a second of 2 bytes.
    sound.writeUInt32LE(0xffff_ffff, 28);
    sound.writeUInt32LE(8_000, 24);
    sound.writeUInt16LE(2, 32);
    expect(soundSeconds(sound, 'audio/wav')).toBe(7);
    const decoy = Buffer.alloc(32);
    decoy.write('JUNK', 0, 'latin1');
    decoy.writeUInt32LE(24, 4);
    decoy.write('fmt ', 8, 'latin1');
    decoy.fill(0xff, 12);
    const behind = Buffer.concat([sound.subarray(0, 12), decoy, sound.subarray(12)]);
    expect(soundSeconds(behind, 'audio/wav')).toBe(8);
  });

  test('lasts as long as FLAC and Ogg say, however little they take', () => {
    const flac = Buffer.alloc(42);
    flac.write('fLaC', 0, 'latin1');
    flac.writeUIntBE(44_100 << 4, 18, 3);
    flac.writeUInt32BE(44_100 * 3_600, 22);
    expect(soundSeconds(flac, 'audio/flac')).toBe(3_600);
    const opus = [oggPage(1, 0, 'OpusHead'), oggPage(1, 48_000 * 90, 'x')];
    const next = [oggPage(2, 0, '\x01vorbis\0\0\0\0\x01\x40\x1f\0\0'), oggPage(2, 80_000, 'x')];
    expect(soundSeconds(Buffer.concat(opus), 'audio/ogg')).toBe(90);
    expect(soundSeconds(Buffer.concat([...opus, ...next]), 'audio/ogg')).toBe(100);
    expect(soundSeconds(Buffer.from('OggS'), 'audio/ogg')).toBe(1);
  });

  test('is no other text of the store', () => {
    expect(isOfType(png().toString('base64'), 'image/png')).toBe(true);
    expect(isOfType(png().toString('base64'), 'image/jpeg')).toBe(false);
    expect(isOfType('The secret text of another run.', 'image/png')).toBe(false);
    expect(isOfType('', 'image/png')).toBe(false);
  });
});
