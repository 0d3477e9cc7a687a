/** Chunks of a stream of tokens, as a command prints them. */
import type { RunEvent } from '../../core/state/event.js';
import type { StreamChunk } from '../../pure/stream.js';
import { modelSpeech } from './model-speech.js';
import type { Output } from './output.js';
import { inert } from '../render/index.js';
import { shownReplies } from './shown-replies.js';

export interface TokenPrinter {
  chunk(chunk: StreamChunk): void;
  /** The event as it is still worth telling: without a text that was shown already. */
  rest(event: RunEvent): RunEvent;
}

export function tokenPrinter(output: Output): TokenPrinter {
  const shown = shownReplies();
  const speech = modelSpeech(output);

  function show(chunk: StreamChunk): void {
    if (chunk.kind === 'delta') {
      const { type, text } = chunk.delta;
      if (type !== 'tool_use') speech.say(type, text);
      return;
    }
    speech.finish();
    const remark = remarkOn(chunk);
    if (remark !== undefined) output.line(output.paint.yellow(remark));
    if (chunk.kind === 'attempt_started') shown.began(chunk.messageId);
    if (chunk.kind === 'gap') shown.missed(chunk.messageId);
    if (chunk.kind === 'attempt_ended') shown.ended(chunk.messageId);
  }

  return {
    chunk(chunk) {
      output.data({ type: 'stream_event', ...chunk });
      if (!output.json) show(chunk);
    },
    rest(event) {
      if (event.type !== 'model_response' || !shown.has(event.messageId)) return event;
      const { text: _shown, ...rest } = event;
      return rest;
    },
  };
}

function remarkOn(chunk: StreamChunk): string | undefined {
  if (chunk.kind === 'gap') return 'A part of what the model said was not kept.';
  if (chunk.kind !== 'attempt_reset') return undefined;
  return `Attempt ${chunk.attempt} is lost (${inert(chunk.reason)}): what it said does not count.`;
}
