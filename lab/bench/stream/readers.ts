/** Two ways to read the same tokens: straight from the model, and from a run. */
import type { RunHandle } from '../../../client/index.js';
import { preciseNow, tokensIn } from './token-model.js';

export interface ReadToken {
  readonly number: number;
  /** From its sending to its reading, in ms. */
  readonly latency: number;
}

/** A client of the vendor's stream without anything between. */
export async function readDirectly(baseUrl: string): Promise<readonly ReadToken[]> {
  const response = await fetch(`${baseUrl}/v1/messages`, { method: 'POST', body: '{}' });
  const decoder = new TextDecoder();
  const read: ReadToken[] = [];
  let rest = '';
  for await (const bytes of response.body as AsyncIterable<Uint8Array>) {
    const text = rest + decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf('\n\n') + 2;
    rest = text.slice(end);
    read.push(...readAt(text.slice(0, end)));
  }
  return read;
}

export async function readFromRun(run: RunHandle): Promise<readonly ReadToken[]> {
  const read: ReadToken[] = [];
  for await (const chunk of run.stream()) {
    if (chunk.kind !== 'delta') continue;
    read.push(...readAt(chunk.delta.text));
  }
  return read;
}

function readAt(text: string): readonly ReadToken[] {
  const now = preciseNow();
  return tokensIn(text).map(({ number, sentAt }) => ({ number, latency: now - sentAt }));
}

/** What is wrong with what a reader got that left after every few chunks. */
export interface Faults {
  /** Tokens of the message that were not read, and of a dead attempt before its last one read. */
  readonly lost: number;
  readonly doubled: number;
  /** Attempts that died while they were read. */
  readonly resets: number;
}

export async function readInParts(
  run: RunHandle,
  { tokens, stay }: { readonly tokens: number; readonly stay: number },
): Promise<Faults> {
  let after: string | undefined;
  let numbers: number[] = [];
  let faults: Faults = { lost: 0, doubled: 0, resets: 0 };
  for (let over = false; !over;) {
    over = true;
    let left = stay;
    for await (const chunk of run.stream(after === undefined ? {} : { after })) {
      after = chunk.cursor;
      if (chunk.kind === 'delta') {
        numbers.push(...tokensIn(chunk.delta.text).map(({ number }) => number));
      } else if (chunk.kind === 'attempt_reset') {
        faults = added(faults, numbers, { expected: Math.max(-1, ...numbers) + 1, resets: 1 });
        numbers = [];
      }
      if ((left -= 1) === 0) {
        over = false;
        break;
      }
    }
  }
  return added(faults, numbers, { expected: tokens, resets: 0 });
}

function added(
  before: Faults,
  numbers: readonly number[],
  { expected, resets }: { readonly expected: number; readonly resets: number },
): Faults {
  const different = new Set(numbers).size;
  return {
    lost: before.lost + expected - different,
    doubled: before.doubled + numbers.length - different,
    resets: before.resets + resets,
  };
}
