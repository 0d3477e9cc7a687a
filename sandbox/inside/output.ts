/** What a command writes: its beginning and its end are kept, the middle is counted. */
import type { CommandOutput } from '../protocol.js';

export interface Kept {
  take(chunk: Buffer): void;
  /** Everything that was written, in bytes. */
  written(): number;
  output(): CommandOutput;
}

export function keepOutput(bytesMax: number): Kept {
  const half = Math.floor(bytesMax / 2);
  let beginning: Buffer = Buffer.alloc(0);
  let end: Buffer = Buffer.alloc(0);
  let written = 0;
  return {
    take(chunk) {
      written += chunk.length;
      const room = half - beginning.length;
      if (room > 0) beginning = Buffer.concat([beginning, chunk.subarray(0, room)]);
      const rest = room > 0 ? chunk.subarray(room) : chunk;
      if (rest.length > 0)
        end = lastOf(Buffer.concat([lastOf(end, half), lastOf(rest, half)]), half);
    },
    written: () => written,
    output() {
      const omitted = written - beginning.length - end.length;
      const text = (part: Buffer): string => new TextDecoder().decode(part);
      if (omitted === 0) return { text: text(Buffer.concat([beginning, end])), omitted };
      return { text: `${text(beginning)}\n[… ${omitted} bytes …]\n${text(end)}`, omitted };
    },
  };
}

function lastOf(bytes: Buffer, most: number): Buffer {
  return Buffer.from(bytes.subarray(Math.max(0, bytes.length - most)));
}
