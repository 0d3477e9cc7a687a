/**
 * A ModelRequest as the body of a chat completion.
 * Invariants: the system message comes first, and what changes of it last; every tool
 * result is a message of its own, before the text it came with (G45); arguments are text; what the vendor added
 * to its message goes back only to the model it came from.
 */
import type { Json } from '../../core/json/json.js';
import type { AttachedFile, Block } from '../../core/state/transcript.js';
import { dataUrl, filesOfResults, isPdf, isPicture, nameOf, unsentWords } from '../attached.js';
import { isRecord, listAt, type JsonRecord } from '../json-record.js';
import type { ModelRequest, RequestMessage } from '../provider.js';
import { lateWords, nothingToSend, wellFormed } from '../wire-text.js';
import { pastWireName } from '../wire-names.js';
import { effortOf, gatewaySampling } from './thinking.js';
import { CHAT_CALL_ID_CHARS_MAX, argumentsText, resultText, wireCallId } from './wire-values.js';

/** Whose habits the server has: OpenAI's newer names of parameters, a gateway's, or only what every server takes. */
export type ChatDialect = 'openai' | 'litellm' | 'plain';

const USER_CHARS_MAX = 256;
/** Fields of a vendor's message that it needs back; of others it may complain. */
const RETURNED_FIELDS = ['thinking_blocks', 'reasoning_details', 'extra_content'] as const;
const RETURNED_CALL_FIELDS = ['extra_content', 'provider_specific_fields'] as const;

/** The body of a streamed request; InvalidRequest when there is nothing to send. */
export function chatBody(request: ModelRequest, dialect: ChatDialect): JsonRecord {
  const messages = request.messages.flatMap((message) =>
    message.role === 'assistant'
      ? assistantMessage(message, request)
      : userMessages(message, dialect),
  );
  if (messages.length === 0) throw nothingToSend();
  const { system, dynamic = [] } = request;
  // Said last, what changes leaves all before it in the cache. Not every server lets the system speak there, or a
  // user right after a tool.
  const said =
    dialect === 'openai'
      ? [...messages, ...systemMessage(dynamic)]
      : withLate(messages, lateWords(dynamic));
  return {
    model: request.model,
    messages: [...systemMessage([system]), ...said],
    ...toolParams(request),
    stream: true,
    stream_options: { include_usage: true },
    ...PARAMS[dialect](request),
  };
}

function openAiParams(request: ModelRequest): JsonRecord {
  const { temperature, thinking, metadata, maxTokens } = request;
  return {
    max_completion_tokens: maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(thinking === undefined ? {} : { reasoning_effort: effortOf(thinking) }),
    ...(metadata === undefined
      ? {}
      : { prompt_cache_key: metadata.runId.slice(0, USER_CHARS_MAX) }),
  };
}

/** Servers that refuse a parameter that they do not know. */
function plainParams({ temperature, thinking, maxTokens }: ModelRequest): JsonRecord {
  return {
    max_tokens: maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(thinking === undefined ? {} : { reasoning_effort: effortOf(thinking) }),
  };
}

function gatewayParams(request: ModelRequest): JsonRecord {
  const { metadata, betas = [] } = request;
  return {
    max_tokens: request.maxTokens,
    ...gatewaySampling(request),
    ...(metadata === undefined ? {} : { user: metadata.runId.slice(0, USER_CHARS_MAX) }),
    // The gateway hands these on to the vendor behind it.
    ...(betas.length === 0 ? {} : { extra_headers: { 'anthropic-beta': betas.join(',') } }),
  };
}

const PARAMS: Readonly<Record<ChatDialect, (request: ModelRequest) => JsonRecord>> = {
  openai: openAiParams,
  litellm: gatewayParams,
  plain: plainParams,
};

/** In the message that is the last one anyway. */
function withLate(messages: readonly JsonRecord[], text: string): readonly JsonRecord[] {
  const { role, content = null, ...rest } = messages.at(-1) ?? {};
  if (text === '') return messages;
  if (role === 'assistant') return [...messages, { role: 'user', content: text }];
  const said = Array.isArray(content)
    ? [...(content as readonly Json[]), { type: 'text', text }]
    : `${typeof content === 'string' ? content : ''}\n\n${text}`;
  return [...messages.slice(0, -1), { role: role ?? 'user', ...rest, content: said }];
}

function systemMessage(texts: readonly string[]): readonly JsonRecord[] {
  const content = texts.filter((text) => text.trim() !== '').join('\n\n');
  return content === '' ? [] : [{ role: 'system', content: wellFormed(content) }];
}

function toolParams({ tools, toolChoice, parallelCalls }: ModelRequest): JsonRecord {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(
      ({ wireName, description, inputSchema, hosted }) =>
        hosted?.declaration ?? {
          type: 'function',
          function: { name: wireName, description, parameters: inputSchema },
        },
    ),
    ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    ...(parallelCalls === false ? { parallel_tool_calls: false } : {}),
  };
}

function userMessages(
  { blocks, asSystem }: RequestMessage,
  dialect: ChatDialect,
): readonly JsonRecord[] {
  const results = blocks.flatMap((block) =>
    block.type === 'tool_result'
      ? [
          {
            role: 'tool',
            tool_call_id: wireCallId(block.id, CHAT_CALL_ID_CHARS_MAX),
            content: resultText(block),
          },
        ]
      : [],
  );
  const content = userContent(blocks);
  // A gateway may move what the system says to the start, or refuse it there: a user says it instead.
  const role = asSystem === true && dialect === 'openai' ? 'system' : 'user';
  return content === undefined ? results : [...results, { role, content }];
}

/** Results are texts alone: what else tools returned is said behind them, as a user's message. */
function userContent(blocks: readonly Block[]): Json | undefined {
  const ofResults = filesOfResults(blocks).flatMap(({ id, files }) => [
    { type: 'text', text: `Files of the result of ${wireCallId(id, CHAT_CALL_ID_CHARS_MAX)}:` },
    ...files.map(filePart),
  ]);
  const own = blocks.filter((block) => block.type === 'file').map(filePart);
  if (ofResults.length + own.length === 0) return textContent(blocks);
  const said = blocks
    .filter((block) => block.type === 'text')
    .filter(({ text }) => text.trim() !== '')
    .map(({ text }) => ({ type: 'text', text: wellFormed(text) }));
  return [...ofResults, ...said, ...own];
}

const SOUND_FORMATS: { readonly [type: string]: string } = {
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
};

function filePart(file: AttachedFile): Json {
  if (isPicture(file)) return { type: 'image_url', image_url: { url: dataUrl(file) } };
  if (isPdf(file)) {
    return { type: 'file', file: { filename: nameOf(file), file_data: dataUrl(file) } };
  }
  const format = SOUND_FORMATS[file.mediaType];
  return format === undefined
    ? { type: 'text', text: unsentWords(file) }
    : { type: 'input_audio', input_audio: { data: file.data, format } };
}

/** One text as text, several as parts, so that none runs into the next. */
function textContent(blocks: readonly Block[]): Json | undefined {
  const texts = blocks.flatMap((block) =>
    block.type === 'text' && block.text.trim() !== '' ? [wellFormed(block.text)] : [],
  );
  return texts.length <= 1 ? texts[0] : texts.map((text) => ({ type: 'text', text }));
}

function assistantMessage(message: RequestMessage, request: ModelRequest): readonly JsonRecord[] {
  const raw = usableRaw(message, request.model);
  const wireNames = new Map(request.tools.map((tool) => [tool.name, tool.wireName]));
  const rawCalls = listAt(raw, 'tool_calls');
  const calls = message.blocks
    .filter((block) => block.type === 'tool_use')
    .map((block, index) => ({
      id: wireCallId(block.id, CHAT_CALL_ID_CHARS_MAX),
      type: 'function',
      function: {
        name: wireNames.get(block.tool) ?? pastWireName(block.tool),
        arguments: argumentsText(block.args),
      },
      ...fieldsOf(rawCalls[index], RETURNED_CALL_FIELDS),
    }));
  const content = textContent(message.blocks);
  if (content === undefined && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: content ?? null,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...fieldsOf(raw, RETURNED_FIELDS),
    },
  ];
}

/** The message of this very model, if it names the same calls as the blocks: otherwise history was repaired. */
function usableRaw({ raw, rawModel, blocks }: RequestMessage, model: string): JsonRecord {
  if (rawModel !== model || !isRecord(raw)) return {};
  const rawIds = listAt(raw, 'tool_calls').map((call) => (isRecord(call) ? call['id'] : undefined));
  const ids = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  const same = ids.length === rawIds.length && ids.every((id, index) => id === rawIds[index]);
  return same ? raw : {};
}

function fieldsOf(value: Json | undefined, keys: readonly string[]): JsonRecord {
  if (!isRecord(value)) return {};
  const kept = keys.filter((key) => Object.hasOwn(value, key));
  return Object.fromEntries(kept.map((key) => [key, value[key] ?? null]));
}
