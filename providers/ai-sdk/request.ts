/**
 * A ModelRequest as the options of `doStream`.
 * Invariants: the system's message comes first, and what changes of it last; results of tools are a message of their own, before the text
 * they came with (G45); what the vendor said of its parts goes back with them, and only to the model it came from.
 */
import { createHash } from 'node:crypto';
import type { Json } from '../../core/json/json.js';
import type { AttachedFile, Block } from '../../core/state/transcript.js';
import { isPicture } from '../attached.js';
import { isRecord, listAt, textAt, type JsonRecord } from '../json-record.js';
import type { LanguageModel } from '../../pure/language-model.js';
import { effortOf } from '../openai/thinking.js';
import { resultText, wireCallId } from '../openai/wire-values.js';
import type { ModelRequest, RequestMessage } from '../provider.js';
import { asArgumentObject } from '../tool-arguments.js';
import { pastWireName } from '../wire-names.js';
import { lateWords, nothingToSend, wellFormed } from '../wire-text.js';
import { withLate } from './late.js';

/** The longest id of a call that every vendor behind a package takes. */
const CALL_ID_CHARS_MAX = 64;
/** Mistral takes ids of nine letters and digits alone. */
const NINE = /^[a-zA-Z0-9]{9}$/;
const NINE_CHARS = 9;

export type Vendor = Pick<LanguageModel, 'provider' | 'specificationVersion'>;

/** InvalidRequest when there is nothing to send. */
export function optionsOf(
  request: ModelRequest,
  vendor: Vendor,
  providerOptions: JsonRecord | undefined,
): JsonRecord {
  const scribe = scribeOf(request, vendor);
  const messages = request.messages.flatMap((message) =>
    message.role === 'assistant'
      ? assistantMessage(message, request, scribe)
      : userMessages(message, scribe),
  );
  if (messages.length === 0) throw nothingToSend();
  const { temperature, maxTokens, system, dynamic = [] } = request;
  const isMarked = isToldOfCache(request, vendor);
  const isLate = !isMarked || mayEnd(request, messages);
  const prompt = [...systemMessage(isLate ? [system] : [system, ...dynamic]), ...messages];
  const kept = isMarked ? marked(prompt, request) : prompt;
  return {
    prompt: isLate ? withLate(kept, lateWords(dynamic), isMarked) : kept,
    maxOutputTokens: maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...toolOptions(request),
    ...reasoningOf(request, vendor),
    ...(providerOptions !== undefined && { providerOptions }),
    includeRawChunks: false,
  };
}

/** Each vendor that wants to be told where its cache is to end knows a word of its own. */
const CACHED = {
  anthropic: { cacheControl: { type: 'ephemeral' } },
  bedrock: { cachePoint: { type: 'default' } },
} as const;

function isToldOfCache({ model }: ModelRequest, { provider }: Vendor): boolean {
  return provider.includes('anthropic') || /bedrock.*claude/.test(`${provider} ${model}`);
}

/** Behind results of tools, older models of Anthropic forget the thinking that led to the calls. */
function mayEnd({ thinking }: ModelRequest, messages: readonly JsonRecord[]): boolean {
  const newest = messages.findLast(({ role }) => role === 'assistant') ?? {};
  const thought = listAt(newest, 'content').some(
    (part) => isRecord(part) && part['type'] === 'reasoning',
  );
  return !thought || thinking?.adaptive === true;
}

/** The ends of the system prompt and of the two newest messages that are not the model's. */
function marked(prompt: readonly JsonRecord[], { metadata }: ModelRequest): readonly JsonRecord[] {
  if ((metadata?.purpose ?? 'compaction') !== 'compaction') return prompt;
  const said = prompt.flatMap(({ role }, at) => {
    const next = prompt[at + 1]?.['role'];
    return role !== 'assistant' && (next === undefined || next === 'assistant') ? [at] : [];
  });
  const places = metadata?.purpose === undefined ? said.slice(-2) : said.slice(-2, -1);
  return prompt.map((message, at) =>
    message['role'] === 'system' || places.includes(at)
      ? { ...message, providerOptions: CACHED }
      : message,
  );
}

/** Only v4 can be told how much to think; for the others the configuration has `providerOptions`. */
function reasoningOf({ thinking }: ModelRequest, { specificationVersion }: Vendor): JsonRecord {
  if (thinking === undefined || specificationVersion !== 'v4') return {};
  return { reasoning: thinking.maxTokens === 0 ? 'none' : effortOf(thinking) };
}

function systemMessage(texts: readonly string[]): readonly JsonRecord[] {
  const content = texts.filter((text) => text.trim() !== '').join('\n\n');
  return content === '' ? [] : [{ role: 'system', content: wellFormed(content) }];
}

/** What a vendor runs itself is declared in words of its own, which no name here stands for. */
function toolOptions({ tools, toolChoice }: ModelRequest): JsonRecord {
  const ours = tools.filter(({ hosted }) => hosted === undefined);
  if (ours.length === 0) return {};
  return {
    tools: ours.map(({ wireName, description, inputSchema }) => ({
      type: 'function',
      name: wireName,
      description,
      inputSchema,
    })),
    toolChoice: { type: toolChoice ?? 'auto' },
  };
}

/** How ids and names of calls are written for this vendor. */
interface Scribe {
  readonly vendor: string;
  readonly version: Vendor['specificationVersion'];
  /** The vendor has a flag for a failed tool; others are told in words (G44). */
  readonly hasErrorFlag: boolean;
  idOf(id: string): string;
  nameOf(id: string): string;
}

function scribeOf(
  { messages, tools }: ModelRequest,
  { provider, specificationVersion: version }: Vendor,
): Scribe {
  const wireNames = new Map(tools.map((tool) => [tool.name, tool.wireName]));
  const names = new Map<string, string>();
  for (const { blocks } of messages) {
    for (const block of blocks) {
      if (block.type !== 'tool_use') continue;
      names.set(block.id, wireNames.get(block.tool) ?? pastWireName(block.tool));
    }
  }
  const nine = provider.startsWith('mistral');
  return {
    vendor: provider,
    version,
    hasErrorFlag: provider.includes('anthropic'),
    idOf: (id) => (nine ? nineOf(id) : wireCallId(id, CALL_ID_CHARS_MAX)),
    nameOf: (id) => names.get(id) ?? 'unknown',
  };
}

function nineOf(id: string): string {
  if (NINE.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, NINE_CHARS);
}

function userMessages({ blocks }: RequestMessage, scribe: Scribe): readonly JsonRecord[] {
  const results = blocks.flatMap((block) =>
    block.type === 'tool_result' ? [resultPart(block, scribe)] : [],
  );
  const files = blocks.filter((block) => block.type === 'file');
  const said = [...textParts(blocks), ...files.map((file) => filePart(file, scribe))];
  return [
    ...(results.length === 0 ? [] : [{ role: 'tool', content: results }]),
    ...(said.length === 0 ? [] : [{ role: 'user', content: said }]),
  ];
}

function resultPart(block: Extract<Block, { type: 'tool_result' }>, scribe: Scribe): JsonRecord {
  const { idOf, nameOf, hasErrorFlag } = scribe;
  const type = block.isError ? 'error-text' : 'text';
  const text = hasErrorFlag ? wellFormed(block.text) : resultText(block);
  const files = block.isError ? undefined : block.files;
  return {
    type: 'tool-result',
    toolCallId: idOf(block.id),
    toolName: nameOf(block.id),
    output:
      files === undefined
        ? { type, value: text }
        : {
            type: 'content',
            value: [{ type: 'text', text }, ...files.map((file) => resultFile(file, scribe))],
          },
  };
}

function filePart({ mediaType, data, name }: AttachedFile, { version }: Scribe): JsonRecord {
  return {
    type: 'file',
    mediaType,
    data: version === 'v4' ? { type: 'data', data } : data,
    ...(name !== undefined && { filename: name }),
  };
}

/** Each version of the interface has words of its own for what stands in a result. */
function resultFile(file: AttachedFile, scribe: Scribe): JsonRecord {
  const { mediaType, data, name } = file;
  if (scribe.version === 'v4') return filePart(file, scribe);
  if (scribe.version === 'v2') return { type: 'media', data, mediaType };
  if (isPicture(file)) return { type: 'image-data', data, mediaType };
  return { type: 'file-data', data, mediaType, ...(name !== undefined && { filename: name }) };
}

function textParts(blocks: readonly Block[]): readonly JsonRecord[] {
  return blocks.flatMap((block) =>
    block.type === 'text' && block.text.trim() !== ''
      ? [{ type: 'text', text: wellFormed(block.text) }]
      : [],
  );
}

function assistantMessage(
  message: RequestMessage,
  { model }: ModelRequest,
  scribe: Scribe,
): readonly JsonRecord[] {
  const own = ownParts(message, { model, vendor: scribe.vendor });
  const content =
    own === undefined
      ? message.blocks.flatMap((block) => plainPart(block, scribe))
      : own.flatMap((part) => returnedPart(part, scribe));
  return content.length === 0 ? [] : [{ role: 'assistant', content }];
}

function plainPart(block: Block, scribe: Scribe): readonly JsonRecord[] {
  if (block.type === 'tool_use') return [callPart(block.id, block.args, scribe)];
  return textParts([block]);
}

function callPart(id: string, args: Json, { idOf, nameOf }: Scribe): JsonRecord {
  const input = asArgumentObject(args);
  return { type: 'tool-call', toolCallId: idOf(id), toolName: nameOf(id), input };
}

/** The parts of this very model, if they name the same calls as the blocks: otherwise history was repaired. */
function ownParts(
  { raw, rawModel, blocks }: RequestMessage,
  { model, vendor }: { readonly model: string; readonly vendor: string },
): readonly JsonRecord[] | undefined {
  if (rawModel !== model || !isRecord(raw) || raw['vendor'] !== vendor) return undefined;
  const parts = listAt(raw, 'parts').filter(isRecord);
  const rawIds = parts.flatMap((part) => (part['type'] === 'tool-call' ? [part['id']] : []));
  const ids = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  const same = ids.length === rawIds.length && ids.every((id, index) => id === rawIds[index]);
  return same && parts.length > 0 ? parts : undefined;
}

function returnedPart(part: JsonRecord, scribe: Scribe): readonly JsonRecord[] {
  const meta = part['meta'];
  const options: JsonRecord = isRecord(meta) ? { providerOptions: meta } : {};
  switch (textAt(part, 'type')) {
    case 'text': {
      const text = wellFormed(textAt(part, 'text'));
      // An empty text may carry the signature of what came before.
      return text.trim() === '' && meta === undefined ? [] : [{ type: 'text', text, ...options }];
    }
    case 'reasoning':
      return [{ type: 'reasoning', text: wellFormed(textAt(part, 'text')), ...options }];
    case 'tool-call':
      return [{ ...callPart(textAt(part, 'id'), part['args'] ?? {}, scribe), ...options }];
    case 'custom':
      return [{ type: 'custom', kind: textAt(part, 'kind'), ...options }];
    default:
      return [];
  }
}
