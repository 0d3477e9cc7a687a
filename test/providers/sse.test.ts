import fc from 'fast-check';
import { SseTooLarge, createSseParser, type SseEvent } from '../../providers/sse.js';

function parse(pieces: readonly Uint8Array[]): readonly SseEvent[] {
  const parser = createSseParser(1_000_000);
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

describe('the parser of server-sent events', () => {
  test('reads fields, comments, several data lines and any line end', () => {
    const text =
      ': hi\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\ndata: 3\n\nid: 7\n\nevent: b\rdata: 4\r\rdata: 5';
    expect(parse([Buffer.from(text)])).toEqual([
      { event: 'a', data: '1\n2' },
      { event: '', data: '3' },
      { event: 'b', data: '4' },
      { event: '', data: '5' },
    ]);
  });

  test('gives the same events however the bytes are split', () => {
    const text = 'event: ä\r\ndata: 👋 世界\r\n\r\ndata: x\n\nevent: e\ndata: y\n\n';
    const bytes = Buffer.from(text);
    const whole = parse([bytes]);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        const borders = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const pieces = borders.slice(1).map((to, index) => bytes.subarray(borders[index], to));
        expect(parse(pieces)).toEqual(whole);
      }),
    );
  });

  test('stops at its limit, also within one line', () => {
    const parser = createSseParser(1000);
    const piece = Buffer.alloc(300, 'x');
    expect(() => [1, 2, 3, 4].forEach(() => parser.push(piece))).toThrow(SseTooLarge);
  });

  test('reads a long line in small pieces in linear time', () => {
    const pieces = Array.from({ length: 20_000 }, () => Buffer.alloc(40, 'x'));
    const started = performance.now();
    const [event] = parse([Buffer.from('data: '), ...pieces, Buffer.from('\n\n')]);
    expect(event?.data).toHaveLength(800_000);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
