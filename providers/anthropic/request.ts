/**
 * A ModelRequest as the body of Anthropic's Messages API.
 * Invariants: roles alternate and the first message is the user's; tool results come first in their
 * message (G45); no empty text block is sent; raw blocks go back unchanged to the model they came from.
 * The cache: a request begins with all bytes of the one before it, up to the newest message of that one, and
 * marks at most four places: the ends of the tools, of the system prompt, and of the two newest user messages.
 */
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';
import type { Json } from '../../core/json/json.js';
import type { AttachedFile, Block } from '../../core/state/transcript.js';
import { isPdf, isPicture, unsentWords } from '../attached.js';
import { mayReturn } from './hosted.js';
import type { ModelRequest, RequestMessage } from '../provider.js';
import { asArgumentObject } from '../tool-arguments.js';
import { lateWords, nothingToSend, wellFormed } from '../wire-text.js';
import { pastWireName } from '../wire-names.js';
import { samplingParams } from './thinking.js';

type JsonObject = { readonly [key: string]: Json };

interface WireMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly JsonObject[];
}

const CACHED = { cache_control: { type: 'ephemeral' } } as const;
/** A conversation that the assistant opens needs a user message before it. */
const OPENING: WireMessage = {
  role: 'user',
  content: [{ type: 'text', text: '(The assistant opens this conversation.)' }],
};
const USER_ID_CHARS_MAX = 256;
const THINKING: ReadonlySet<Json | undefined> = new Set(['thinking', 'redacted_thinking']);

/** The body of a streamed request; InvalidRequest when there is nothing to send. */
export function anthropicBody(request: ModelRequest): MessageCreateParamsStreaming {
  const messages = alternating(request);
  if (messages.length === 0) throw nothingToSend();
  const newest = messages.findLast((message) => message.role === 'assistant');
  const isLate = mayEnd(request, messages);
  const body = {
    model: request.model,
    max_tokens: request.maxTokens,
    stream: true,
    ...systemOf(request, isLate),
    ...(request.tools.length === 0 ? {} : { tools: toolParams(request), ...toolChoice(request) }),
    messages: withLate(marked(messages, request), isLate ? lateWords(request.dynamic) : ''),
    ...samplingParams(request, newest?.content ?? []),
    ...(request.metadata === undefined
      ? {}
      : { metadata: { user_id: request.metadata.runId.slice(0, USER_ID_CHARS_MAX) } }),
  };
  // Raw blocks are the vendor's own JSON; the SDK's types cannot describe what is only passed through.
  return body as unknown as MessageCreateParamsStreaming;
}

/** The part that stays the same, and behind it what changes and cannot be said later. */
function systemOf(
  { system, dynamic = [] }: ModelRequest,
  isLate: boolean,
): { readonly system?: readonly Json[] } {
  const later = isLate ? '' : dynamic.join('\n\n');
  const blocks = [{ text: system, ...CACHED }, { text: later }].filter(
    ({ text }) => text.trim() !== '',
  );
  if (blocks.length === 0) return {};
  return {
    system: blocks.map((block) => ({ type: 'text', ...block, text: wellFormed(block.text) })),
  };
}

/**
 * Whether what changes with every request may be said at its end, where no cached byte comes after it. Behind results
 * of tools, older models forget the thinking that led to the calls.
 */
function mayEnd({ thinking }: ModelRequest, messages: readonly WireMessage[]): boolean {
  if (messages.at(-1)?.role !== 'user') return false;
  const newest = messages.findLast((message) => message.role === 'assistant');
  const thought = newest?.content.some(({ type }) => THINKING.has(type)) === true;
  return !thought || thinking?.adaptive === true;
}

function withLate(messages: readonly WireMessage[], text: string): readonly WireMessage[] {
  const last = messages.at(-1);
  if (text === '' || last === undefined) return messages;
  return [
    ...messages.slice(0, -1),
    { ...last, content: [...last.content, { type: 'text', text }] },
  ];
}

/**
 * The newest message is kept for the next request, and the one before it is read: where a turn has more blocks than
 * the vendor looks back from a mark, the older mark finds them. A summary is followed by other messages, so only
 * what is there is read; what judges and reviewers are asked is asked once.
 */
function marked(
  messages: readonly WireMessage[],
  { metadata: { purpose } = {} as NonNullable<ModelRequest['metadata']> }: ModelRequest,
): readonly WireMessage[] {
  if (purpose !== undefined && purpose !== 'compaction') return messages;
  const isUser = ({ role }: WireMessage): boolean => role === 'user';
  const newest = messages.findLastIndex(isUser);
  // Roles alternate.
  const places = purpose === undefined ? [newest, newest - 2] : [newest - 2];
  return places
    .filter((place) => place >= 0)
    .reduce((all, place) => all.with(place, withMark(all[place]!)), messages);
}

function withMark(message: WireMessage): WireMessage {
  return {
    ...message,
    content: message.content.with(-1, { ...message.content.at(-1), ...CACHED }),
  };
}

/** Wire names of the vendor's own tools in a request. */
export function hostedNamesOf({ tools }: ModelRequest): readonly string[] {
  return tools.flatMap((tool) => (tool.hosted ? [tool.wireName] : []));
}

function toolParams(request: ModelRequest): readonly Json[] {
  // What is loaded later is no part of the cached prefix, and may not be marked.
  const last = request.tools.findLastIndex(
    ({ hosted }) => hosted?.declaration['defer_loading'] !== true,
  );
  return request.tools.map((tool, index) => ({
    ...(tool.hosted?.declaration ?? {
      name: tool.wireName,
      description: tool.description,
      input_schema: tool.inputSchema,
    }),
    // Tools come before the system prompt in the cached prefix, so they stay cached if only that changes.
    ...(index === last ? CACHED : {}),
  }));
}

function toolChoice({ toolChoice: choice, parallelCalls }: ModelRequest): JsonObject {
  if (choice !== undefined) return { tool_choice: { type: choice } };
  if (parallelCalls !== false) return {};
  return { tool_choice: { type: 'auto', disable_parallel_tool_use: true } };
}

function alternating(request: ModelRequest): readonly WireMessage[] {
  const { model, tools } = request;
  const wireNames = new Map(tools.map(({ name, wireName }) => [name, wireName]));
  const offered: Offered = { model, tools, wireNames, hosted: hostedNamesOf(request) };
  const merged: WireMessage[] = [];
  for (const message of request.messages) {
    const wire = wireOf(message, offered);
    if (wire === undefined) continue;
    const last = merged.at(-1);
    if (last?.role !== wire.role) merged.push(wire);
    else merged[merged.length - 1] = joined(last, wire);
  }
  if (merged[0]?.role === 'assistant') merged.unshift(OPENING);
  return merged;
}

function joined(one: WireMessage, next: WireMessage): WireMessage {
  return resultsFirst({ role: one.role, content: [...one.content, ...next.content] });
}

interface Sent extends Pick<Offered, 'model' | 'tools'> {
  readonly wire: WireMessage | undefined;
}

/** A conversation is sent with every request, and nothing but its end is new. */
const sent = new WeakMap<RequestMessage, Sent>();

/** A message as the vendor gets it, where no other message joins it; undefined: it has nothing to send. */
function wireOf(message: RequestMessage, offered: Offered): WireMessage | undefined {
  const known = sent.get(message);
  if (known?.tools === offered.tools && known.model === offered.model) return known.wire;
  const content =
    message.role === 'assistant' && usableRaw(message, offered)
      ? withoutEmptyText(message.raw)
      : message.blocks.flatMap((block) => contentOf(block, offered.wireNames));
  const wire = content.length === 0 ? undefined : resultsFirst({ role: message.role, content });
  const { model, tools } = offered;
  sent.set(message, { model, tools, wire });
  return wire;
}

function resultsFirst(message: WireMessage): WireMessage {
  if (message.role !== 'user') return message;
  const results = message.content.filter((block) => block['type'] === 'tool_result');
  const others = message.content.filter((block) => block['type'] !== 'tool_result');
  return { ...message, content: [...results, ...others] };
}

interface RawMessage extends RequestMessage {
  readonly raw: readonly JsonObject[];
}

interface Offered extends Pick<ModelRequest, 'model' | 'tools'> {
  readonly wireNames: ReadonlyMap<string, string>;
  /** Names of the vendor's own tools in this request. */
  readonly hosted: readonly string[];
}

/**
 * Raw blocks of this very model that name the same calls as the blocks: otherwise history was repaired. What the
 * vendor ran goes back only while it is offered.
 */
function usableRaw(message: RequestMessage, offered: Offered): message is RawMessage {
  const { raw, rawModel, blocks } = message;
  if (rawModel !== offered.model || !Array.isArray(raw)) return false;
  const rawBlocks = raw as readonly Json[];
  if (!rawBlocks.every((block) => typeof block === 'object' && block !== null)) return false;
  if (!mayReturn(rawBlocks, offered.hosted)) return false;
  const rawIds = (rawBlocks as readonly JsonObject[])
    .filter((block) => block['type'] === 'tool_use')
    .map((block) => block['id']);
  const ids = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  return ids.length === rawIds.length && ids.every((id, index) => id === rawIds[index]);
}

function withoutEmptyText(raw: readonly JsonObject[]): readonly JsonObject[] {
  return raw.filter((block) => {
    const text = block['text'];
    return block['type'] !== 'text' || (typeof text === 'string' && text.trim() !== '');
  });
}

function contentOf(block: Block, wireNames: ReadonlyMap<string, string>): readonly JsonObject[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [{ type: 'text', text: wellFormed(block.text) }];
    case 'thinking':
      // Without its signature, or for another model, thinking is refused (G49).
      return [];
    case 'tool_use':
      return [
        {
          type: 'tool_use',
          id: block.id,
          name: wireNames.get(block.tool) ?? pastWireName(block.tool),
          input: asArgumentObject(block.args),
        },
      ];
    case 'tool_result':
      return [resultOf(block)];
    case 'file':
      return [fileBlock(block)];
  }
}

function fileBlock(file: AttachedFile): JsonObject {
  const { mediaType, data, name } = file;
  const source = { type: 'base64', media_type: mediaType, data };
  if (isPicture(file)) return { type: 'image', source };
  if (!isPdf(file)) return { type: 'text', text: unsentWords(file) };
  return { type: 'document', source, ...(name !== undefined && { title: wellFormed(name) }) };
}

function resultOf(block: Extract<Block, { type: 'tool_result' }>): JsonObject {
  const text = wellFormed(block.text);
  // An error without content is refused by the API; a success may be empty.
  const words = text === '' && block.isError ? 'The tool failed without a message.' : text;
  const content =
    block.files === undefined
      ? words
      : [
          ...(words.trim() === '' ? [] : [{ type: 'text', text: words }]),
          ...block.files.map(fileBlock),
        ];
  return {
    type: 'tool_result',
    tool_use_id: block.id,
    ...(content === '' ? {} : { content }),
    ...(block.isError ? { is_error: true } : {}),
  };
}
