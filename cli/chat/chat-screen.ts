/**
 * Messages of a conversation on a terminal or in a pipe.
 * Invariants: nothing that a model, a tool or a user said leaves here as it came; what a model says stands
 * behind a bar, so that it cannot pass for a line of ours.
 */
import type { Json } from '../../core/json/json.js';
import type {
  SDKAssistantMessage,
  SDKMessage,
  SDKPartialAssistantMessage,
  SDKResultMessage,
  SDKStatusMessage,
  SDKToolProgressMessage,
  SDKUserMessage,
} from '../../pure/sdk/message.js';
import { modelSpeech, type ModelSpeech } from '../terminal/model-speech.js';
import type { Output } from '../terminal/output.js';
import { durationText, inert, inertInline, sourceLines } from '../render/index.js';
import { shownReplies } from '../terminal/shown-replies.js';

const ARGS_CHARS_MAX = 160;
const RESULT_CHARS_MAX = 160;

interface Call {
  readonly name: string;
  readonly input: Json;
  readonly seconds?: number;
}

type Remark = 'init' | 'compact_boundary' | 'handoff' | 'tombstone' | 'reset';

export class ChatScreen {
  private readonly speech: ModelSpeech;
  private readonly streamed = shownReplies();
  private calls = new Map<string, Call>();
  /** The question for the user's next message, which is shown as the prompt and as nothing else. */
  private turn: string | undefined;

  constructor(private readonly output: Output) {
    this.speech = modelSpeech(output);
  }

  show(message: SDKMessage): void {
    switch (message.type) {
      case 'stream_event':
        return this.piece(message);
      case 'assistant':
        return this.reply(message);
      case 'tool_progress':
        return this.progress(message);
      case 'user':
        return this.results(message);
      case 'result':
        return this.ending(message);
      case 'system':
        return message.subtype === 'status' ? this.status(message) : this.remark(message.subtype);
    }
  }

  private piece({ event, message_id: id }: SDKPartialAssistantMessage): void {
    const { speech, streamed } = this;
    if (event.type === 'content_block_delta') {
      if (event.delta.type === 'text_delta') speech.say('text', event.delta.text);
      if (event.delta.type === 'thinking_delta') speech.say('thinking', event.delta.thinking);
      return;
    }
    if (event.type !== 'content_block_start') speech.finish();
    if (event.type === 'message_start') streamed.began(id);
    if (event.type === 'message_stop') streamed.ended(id);
    if (event.type === 'gap') {
      streamed.missed(id);
      this.note('A part of what was said is missing here.');
    }
    if (event.type === 'attempt_reset') this.note(`Said again, after ${inert(event.reason)}:`);
  }

  private reply({ message, sources }: SDKAssistantMessage): void {
    this.calls = new Map();
    for (const block of message.content) {
      if (block.type === 'tool_use') {
        this.calls.set(block.id, { name: block.name, input: block.input });
      } else if (!this.streamed.has(message.id)) {
        const words = block.type === 'text' ? block.text : block.thinking;
        this.speech.say(block.type, words);
      }
    }
    this.speech.finish();
    const { line, paint } = this.output;
    for (const one of sourceLines(sources)) line(paint.dim(`│ ${one}`));
    if (message.stop_reason === null) this.note('(cut off)');
  }

  private progress(message: SDKToolProgressMessage): void {
    const { tool_use_id: id, tool_name: name, elapsed_time_seconds: seconds } = message;
    const call = this.calls.get(id) ?? { name, input: null };
    if (call.seconds === undefined) {
      const args = inertInline(call.input, ARGS_CHARS_MAX);
      this.output.line(`${this.output.paint.cyan('→')} ${inert(call.name)} ${args}`);
    }
    this.calls.set(id, { ...call, seconds });
  }

  private results({ message: { content } }: SDKUserMessage): void {
    if (typeof content === 'string') return;
    const { line, paint } = this.output;
    for (const { tool_use_id: id, is_error: isError, content: text } of content) {
      const { name = id, seconds = 0 } = this.calls.get(id) ?? {};
      const took = paint.dim(`(${durationText(seconds * 1_000)})`);
      const why = isError ? `: ${inert(text, RESULT_CHARS_MAX)}` : '';
      line(`${isError ? paint.red('✗') : paint.green('✓')} ${inert(name)}${why} ${took}`);
    }
  }

  private status(message: SDKStatusMessage): void {
    const { event, ask, ask_id: askId, outcome, by = [], reason, corrected } = message;
    if (corrected !== undefined) {
      // What runs is what is shown, not what the model had proposed.
      const { tool_use_id: id, tool_name: name, input } = corrected;
      this.calls.set(id, { name, input });
    }
    if (ask?.kind === 'user_message') this.turn = ask.askId;
    if (event === 'interruption') return this.note('Interrupted.');
    if (event === 'control_refused') return this.note(`Not done: ${inert(reason ?? '')}`);
    if (outcome === undefined || outcome === 'answered' || askId === this.turn) return;
    const who = by.length === 0 ? '' : ` by ${by.map((one) => inert(one)).join(', ')}`;
    const why = reason === undefined ? '' : `: ${inert(reason)}`;
    this.output.line(this.output.paint.dim(`The question is ${outcome}${who}${why}.`));
  }

  private ending(message: SDKResultMessage): void {
    if (message.subtype === 'success') return;
    for (const error of message.errors) this.output.line(this.output.paint.red(inert(error)));
  }

  private remark(subtype: Remark): void {
    if (subtype === 'handoff') this.note('Another agent goes on.');
    if (subtype === 'compact_boundary')
      this.note('The conversation before this point was summarised.');
    if (subtype === 'tombstone') this.note('The last message was taken back and does not count.');
    if (subtype === 'reset') this.note('The run was reset; the end of it is told again.');
  }

  private note(text: string): void {
    this.output.line(this.output.paint.yellow(text));
  }
}
