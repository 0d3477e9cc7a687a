/** The result of a server's tool, as the model and the store get it. */
import { ToolFailure } from '../authoring/tool-error.js';
import { withFiles, type ResultWithFiles } from '../authoring/tool-files.js';
import type { Json } from '../core/json/json.js';
import { RESULT_ATTACHMENTS_MAX } from '../core/state/attachment.js';
import { prepareAttachment, type AttachmentSource } from '../attachments/attach.js';
import type { SdkClient } from './sdk.js';
import type { Secrets } from './secrets.js';

type CallResult = Awaited<ReturnType<SdkClient['callTool']>>;

const FAILURE_CHARS_MAX = 2_000;

/** A value of JSON, or a {@link ToolFailure}: the server answered, and what it answered is an error. */
export function valueOf(
  result: CallResult,
  secrets: Secrets,
): Json | ResultWithFiles<Json> | ToolFailure {
  const blocks = (result.content ?? []).map(blockOf);
  const text = blocks.map((block) => (typeof block === 'string' ? block : JSON.stringify(block)));
  if (result.isError === true) {
    const said = secrets.strip(text.join('\n')).slice(0, FAILURE_CHARS_MAX);
    return new ToolFailure(said || 'The server says no more.');
  }
  const found = (result.content ?? []).flatMap(fileOf);
  const files = found.slice(0, RESULT_ATTACHMENTS_MAX);
  if (found.length > files.length)
    blocks.push(`[${found.length - files.length} more files of this result are left out.]`);
  const value = plainValue(result, { blocks, text: text.join('\n') }, secrets);
  return files.length === 0 ? value : withFiles(value, files);
}

interface Said {
  readonly blocks: readonly Json[];
  readonly text: string;
}

function plainValue({ structuredContent }: CallResult, said: Said, secrets: Secrets): Json {
  if (structuredContent !== undefined) return redacted(structuredContent as Json, secrets);
  if (said.blocks.every((block) => typeof block === 'string')) return secrets.redact(said.text);
  return redacted({ content: said.blocks }, secrets);
}

/** What can be shown to a model; the value tells of the rest by kind and size. */
function fileOf(block: CallResult['content'][number]): readonly AttachmentSource[] {
  const source = sourceOf(block);
  if (source === undefined) return [];
  try {
    prepareAttachment(source);
    return [source];
  } catch {
    return [];
  }
}

function sourceOf(block: CallResult['content'][number]) {
  if (block.type === 'image' || block.type === 'audio') return { data: block.data };
  if (block.type !== 'resource' || !('blob' in block.resource)) return undefined;
  const { blob, uri } = block.resource;
  const name = /([^/\\]+)$/.exec(uri)?.[1];
  return { data: blob, ...(name !== undefined && { name }) };
}

/** A server may give back the token that it was sent: no result, and no tool, has it. */
export function redacted(value: Json, secrets: Secrets): Json {
  if (typeof value === 'string') return secrets.redact(value);
  if (Array.isArray(value)) return value.map((one) => redacted(one, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [secrets.redact(key), redacted(one, secrets)]),
  );
}

/** Pictures and sounds are told by kind and size: the value is text. */
function blockOf(block: CallResult['content'][number]): Json {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio': {
      const { type, mimeType, data } = block;
      return { type, mimeType, bytes: Math.floor((data.length * 3) / 4) };
    }
    case 'resource': {
      const { uri, mimeType } = block.resource;
      const known = { type: block.type, uri, ...(mimeType !== undefined && { mimeType }) };
      if ('text' in block.resource) return { ...known, text: block.resource.text };
      return { ...known, bytes: Math.floor((block.resource.blob.length * 3) / 4) };
    }
    case 'resource_link': {
      const { type, uri, name } = block;
      return { type, uri, name };
    }
  }
}
