/** Lists that only grow and are gone through, held as the bytes of their JSON beside the heap of objects. */

/** Their JSON is larger than what Node would take from a pool that it shares. */
const VALUES_IN_BLOCK = 64;

export interface PackedList<T> extends Iterable<T> {
  readonly length: number;
  push(value: T): void;
}

/** `T`: what JSON gives back as it was. */
export function packedList<T>(): PackedList<T> {
  const blocks: Buffer[] = [];
  let newest: T[] = [];
  return {
    get length() {
      return blocks.length * VALUES_IN_BLOCK + newest.length;
    },
    push(value) {
      if (newest.push(value) < VALUES_IN_BLOCK) return;
      blocks.push(Buffer.from(JSON.stringify(newest)));
      newest = [];
    },
    *[Symbol.iterator]() {
      for (const block of blocks) yield* JSON.parse(block.toString()) as readonly T[];
      yield* newest;
    },
  };
}
