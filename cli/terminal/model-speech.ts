/**
 * What a model says, on a terminal as it comes. Every line of it begins with a bar, which no model can leave out:
 * what has none is ours.
 */
import type { Output } from './output.js';
import { inertStream, type InertStream } from '../render/index.js';

export interface ModelSpeech {
  say(tone: Tone, piece: string): void;
  /** What follows is something else. */
  finish(): void;
}

export type Tone = 'text' | 'thinking';

const BAR = '│ ';

export function modelSpeech(output: Output): ModelSpeech {
  let tone: Tone = 'text';
  let inert: InertStream = inertStream();
  /** The next piece begins a line. */
  let fresh = true;

  function write(clean: string): void {
    for (const [number, line] of clean.split('\n').entries()) {
      if (number > 0) output.piece(fresh ? `${BAR}\n` : '\n');
      fresh ||= number > 0;
      if (line === '') continue;
      output.piece(`${fresh ? BAR : ''}${tone === 'thinking' ? output.paint.dim(line) : line}`);
      fresh = false;
    }
  }

  function finish(): void {
    write(inert.end());
    if (!fresh) output.piece('\n');
    inert = inertStream();
    fresh = true;
  }

  return {
    finish,
    say(next, piece) {
      if (next !== tone) finish();
      tone = next;
      write(inert.push(piece));
    },
  };
}
