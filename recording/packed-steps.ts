/** Steps of an index as bytes beside the heap of objects: a long run has thousands. */
import type { FoldStep } from './steps.js';

export interface PackedSteps {
  readonly count: number;
  /** Of JSON, a line for each step; no line is in two of them. */
  readonly chunks: readonly Uint8Array<ArrayBuffer>[];
}

const CHUNK_CHARS = 64 * 1024;

export function stepPacker() {
  const encoder = new TextEncoder();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let count = 0;
  let lines = '';
  function cut(): void {
    if (lines !== '') chunks.push(encoder.encode(lines));
    lines = '';
  }
  return {
    add(step: FoldStep): void {
      count += 1;
      lines += `${JSON.stringify(step)}\n`;
      if (lines.length >= CHUNK_CHARS) cut();
    },
    end(): PackedSteps {
      cut();
      return { count, chunks };
    },
  };
}

export function* unpackedSteps({ chunks }: PackedSteps): Generator<FoldStep> {
  const decoder = new TextDecoder();
  for (const chunk of chunks) {
    for (const line of decoder.decode(chunk).split('\n')) {
      if (line !== '') yield JSON.parse(line) as FoldStep;
    }
  }
}
