/**
 * A ModelRequest as the body of a response.
 * Invariants: every result is an item of its own that names its call, before the text it came with (G45);
 * the vendor's own items go back unchanged to the model they came from; an earlier response is referred to
 * only if everything before it is exactly what it answered, else the whole conversation is sent.
 */
import { createHash } from 'node:crypto';
import type { Json } from '../../core/json/json.js';
import type { AttachedFile, Block } from '../../core/state/transcript.js';
import { dataUrl, isPdf, isPicture, nameOf, unsentWords } from '../attached.js';
import { isRecord, listAt, textAt, type JsonRecord } from '../json-record.js';
import type { ModelRequest, RequestMessage } from '../provider.js';
import { nothingToSend, wellFormed } from '../wire-text.js';
import { pastWireName } from '../wire-names.js';
import { effortOf } from './thinking.js';
import {
  RESPONSES_CALL_ID_CHARS_MAX,
  argumentsText,
  resultText,
  wireCallId,
} from './wire-values.js';

/** What the server is asked to do beyond the one request. */
export interface ResponsesMode {
  /** It keeps responses, so that later requests can refer to them. */
  readonly stored: boolean;
  /** Whether a kept response may be referred to: false once the server had lost it. */
  readonly known: (responseId: string) => boolean;
}

export interface ResponsesRequest {
  readonly body: JsonRecord;
  /** Names the conversation up to and including this request. */
  readonly prefix: string;
  /** The response that the request goes on from. */
  readonly previous?: string;
}

const CACHE_KEY_CHARS_MAX = 64;

export function responsesRequest(request: ModelRequest, mode: ResponsesMode): ResponsesRequest {
  const turns = request.messages.map((message) => itemsOf(message, request));
  if (turns.flat().length === 0) throw nothingToSend();
  const late = lateItems(request);
  const whole = [...turns.flat(), ...late];
  // A server that keeps the conversation would keep what is said for this request alone.
  const goesOn = mode.stored && late.length === 0;
  const previous = goesOn ? continuation(request, turns, mode) : undefined;
  const input = previous === undefined ? whole : turns.slice(previous.at + 1).flat();
  const { temperature, thinking, metadata } = request;
  const body = {
    model: request.model,
    ...instructions(request),
    input,
    ...(previous === undefined ? {} : { previous_response_id: previous.id }),
    ...toolParams(request),
    max_output_tokens: request.maxTokens,
    stream: true,
    store: mode.stored,
    // A model that takes no temperature reasons: its reasoning has to come back with the conversation once the
    // server keeps it no longer, readable to the vendor only. Other models refuse to be asked for it.
    ...(temperature === undefined ? { include: ['reasoning.encrypted_content'] } : { temperature }),
    ...(thinking === undefined ? {} : { reasoning: { effort: effortOf(thinking) } }),
    ...(metadata === undefined
      ? {}
      : { prompt_cache_key: metadata.runId.slice(0, CACHE_KEY_CHARS_MAX) }),
  };
  const prefix = prefixOf(request.model, whole);
  return { body, prefix, ...(previous === undefined ? {} : { previous: previous.id }) };
}

interface Continuation {
  readonly id: string;
  /** The message that is that response. */
  readonly at: number;
}

/** The newest answer, if the conversation before it has only grown since. */
function continuation(
  { model, messages }: ModelRequest,
  turns: readonly (readonly Json[])[],
  mode: ResponsesMode,
): Continuation | undefined {
  const at = messages.findLastIndex((message) => message.role === 'assistant');
  const message = messages[at];
  if (message === undefined || turns.slice(at + 1).flat().length === 0) return undefined;
  const raw = usableRaw(message, model);
  const id = textAt(raw, 'id');
  if (id === '' || !mode.known(id)) return undefined;
  const before = prefixOf(model, turns.slice(0, at).flat());
  return textAt(raw, 'prefix') === before ? { id, at } : undefined;
}

function prefixOf(model: string, items: readonly Json[]): string {
  return createHash('sha256')
    .update(JSON.stringify([model, items]))
    .digest('hex');
}

function instructions({ system }: ModelRequest): JsonRecord {
  return system.trim() === '' ? {} : { instructions: wellFormed(system) };
}

/** What changes with every request is said last, and leaves all before it in the cache. */
function lateItems({ dynamic = [] }: ModelRequest): readonly Json[] {
  const text = dynamic.filter((each) => each.trim() !== '').join('\n\n');
  if (text === '') return [];
  const content = [{ type: 'input_text', text: wellFormed(text) }];
  return [{ type: 'message', role: 'developer', content }];
}

function toolParams({ tools, toolChoice, parallelCalls }: ModelRequest): JsonRecord {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(
      ({ wireName, description, inputSchema, hosted }) =>
        hosted?.declaration ?? {
          type: 'function',
          name: wireName,
          description,
          parameters: inputSchema,
          // The default here, and most schemas of tools do not meet its conditions.
          strict: false,
        },
    ),
    ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    ...(parallelCalls === false ? { parallel_tool_calls: false } : {}),
  };
}

function itemsOf(message: RequestMessage, request: ModelRequest): readonly Json[] {
  if (message.role === 'assistant') return assistantItems(message, request);
  const results = message.blocks.flatMap((block) =>
    block.type === 'tool_result'
      ? [
          {
            type: 'function_call_output',
            call_id: wireCallId(block.id, RESPONSES_CALL_ID_CHARS_MAX),
            output: outputOf(block),
          },
        ]
      : [],
  );
  const files = message.blocks.filter((block) => block.type === 'file').map(fileItem);
  const content = [
    ...texts(message.blocks).map((text) => ({ type: 'input_text', text })),
    ...files,
  ];
  const role = message.asSystem === true ? 'developer' : 'user';
  return content.length === 0 ? results : [...results, { type: 'message', role, content }];
}

function outputOf(block: Extract<Block, { type: 'tool_result' }>): Json {
  const text = resultText(block);
  if (block.files === undefined) return text;
  const said = text.trim() === '' ? [] : [{ type: 'input_text', text }];
  return [...said, ...block.files.map(fileItem)];
}

function fileItem(file: AttachedFile): JsonRecord {
  if (isPicture(file)) return { type: 'input_image', detail: 'auto', image_url: dataUrl(file) };
  return isPdf(file)
    ? { type: 'input_file', filename: nameOf(file), file_data: dataUrl(file) }
    : { type: 'input_text', text: unsentWords(file) };
}

function assistantItems(message: RequestMessage, request: ModelRequest): readonly Json[] {
  const output = listAt(usableRaw(message, request.model), 'output');
  if (output.length > 0) return output.map(withWireCallId);
  const wireNames = new Map(request.tools.map((tool) => [tool.name, tool.wireName]));
  const items: Json[] = [];
  for (const block of message.blocks) {
    if (block.type === 'text' && block.text.trim() !== '') {
      const content = [{ type: 'output_text', text: wellFormed(block.text) }];
      items.push({ type: 'message', role: 'assistant', content });
    } else if (block.type === 'tool_use') {
      items.push({
        type: 'function_call',
        call_id: wireCallId(block.id, RESPONSES_CALL_ID_CHARS_MAX),
        name: wireNames.get(block.tool) ?? pastWireName(block.tool),
        arguments: argumentsText(block.args),
      });
    }
  }
  return items;
}

function withWireCallId(item: Json): Json {
  if (!isRecord(item) || item['type'] !== 'function_call') return item;
  return { ...item, call_id: wireCallId(textAt(item, 'call_id'), RESPONSES_CALL_ID_CHARS_MAX) };
}

/** The items of this very model, if they name the same calls as the blocks: otherwise history was repaired. */
function usableRaw({ raw, rawModel, blocks }: RequestMessage, model: string): JsonRecord {
  if (rawModel !== model || !isRecord(raw)) return {};
  const items = listAt(raw, 'output').filter(isRecord);
  const rawIds = items
    .filter((item) => item['type'] === 'function_call')
    .map((item) => item['call_id']);
  const ids = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  const same = ids.length === rawIds.length && ids.every((id, index) => id === rawIds[index]);
  return same ? raw : {};
}

function texts(blocks: readonly Block[]): readonly string[] {
  return blocks.flatMap((block) =>
    block.type === 'text' && block.text.trim() !== '' ? [wellFormed(block.text)] : [],
  );
}
