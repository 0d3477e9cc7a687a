/** Values on a disk, one in a line, between the looks at them. */
import type { Json } from '../../core/json/json.js';
import { BUNDLE_BYTES_MAX } from '../bundle.js';
import { keyedOf, type Keyed, type Shelf, type Values } from '../redaction/recorded.js';
import { openSpool, type Stretch } from './spool.js';
import { tooLargeRecord } from './too-large.js';

const NEWLINE = 0x0a;

/** `folder`: on a disk that has room for it. Errors: `InvalidBundle` for more than `bytesMax`, by default what a bundle holds. */
export async function openSpooledShelf(
  folder: string,
  bytesMax = BUNDLE_BYTES_MAX,
): Promise<Shelf> {
  const spool = await openSpool(folder);
  let held = 0;

  /** Ends where the limit is passed, not behind a list that has no end. */
  async function* bounded(lines: AsyncIterable<string>): AsyncGenerator<string, void> {
    for await (const line of lines) {
      held += Buffer.byteLength(line);
      if (held > bytesMax) throw tooLargeRecord(bytesMax);
      yield line;
    }
  }

  async function put(values: Values<unknown>): Promise<Stretch> {
    return spool.put(bounded(linesOf(values)));
  }

  return {
    async list<T>(values: Values<T>): Promise<Values<T>> {
      const stretch = await put(values);
      return {
        [Symbol.asyncIterator]: () => valuesIn(spool.read(stretch)) as AsyncGenerator<T, void>,
      };
    },
    async keyed<T>(values: Values<readonly [string, T]>): Promise<Keyed<T>> {
      const places = new Map<string, Stretch>();
      for await (const [hash, value] of values) {
        if (!places.has(hash)) places.set(hash, await put([value]));
      }
      return keyedOf([...places.keys()], async (hash) => {
        for await (const value of valuesIn(spool.read(places.get(hash)!))) return value as T;
        throw new Error('the spool is shorter than what was put there');
      });
    },
    close: () => spool.close(),
  };
}

/** The keys stay in their order, which the canonical form would change. */
async function* linesOf(values: Values<unknown>): AsyncGenerator<string, void> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}

async function* valuesIn(pieces: AsyncIterable<Buffer>): AsyncGenerator<Json, void> {
  let waiting: Buffer[] = [];
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...waiting, piece.subarray(from, end)]);
      yield JSON.parse(line.toString('utf8')) as Json;
      waiting = [];
      from = end + 1;
    }
    if (from < piece.length) waiting.push(piece.subarray(from));
  }
}
