import { deflateSync } from 'node:zlib';
import { parseAttachment } from '../../core/messages/parse-attachments.js';
import { prepareAttachment } from '../../attachments/attach.js';
import { pdfPages } from '../../attachments/pdf-pages.js';
import { isOfType, typeOf } from '../../attachments/sniff.js';
import { jpeg, packedPdf, pdf, pdfWithStream, png, wav } from '../attachment-files.js';

function refusalOf(source: Parameters<typeof prepareAttachment>[0]): unknown {
  try {
    return prepareAttachment(source);
  } catch (error) {
    return error;
  }
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

  test('is no other text of the store', () => {
    expect(isOfType(png().toString('base64'), 'image/png')).toBe(true);
    expect(isOfType(png().toString('base64'), 'image/jpeg')).toBe(false);
    expect(isOfType('The secret text of another run.', 'image/png')).toBe(false);
    expect(isOfType('', 'image/png')).toBe(false);
  });
});
