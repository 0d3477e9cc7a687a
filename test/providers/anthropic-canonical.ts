/** A recorded conversation with Anthropic's API as the runtime would hand it over. */
import type { Json } from '../../core/json/json.js';
import type { Block, ToolOffer } from '../../core/state/transcript.js';
import type { ModelRequest, RequestMessage } from '../../providers/provider.js';
import type { Fields } from './cassettes.js';
import { fields, list, text } from './differences.js';

/** Undefined where the runtime has nothing like it: pictures, documents, changing tools, tools called by servers. */
export function canonicalMessages(recorded: Fields): ModelRequest | undefined {
  const tools = list(recorded['tools']).map(fields);
  const calledByOthers = tools.some((tool) => 'allowed_callers' in tool);
  if ('mcp_servers' in recorded || calledByOthers) return undefined;
  const model = text(recorded['model']);
  const messages: RequestMessage[] = [];
  for (const message of list(recorded['messages']).map(fields)) {
    const read = messageOf(message, model);
    if (read === undefined) return undefined;
    messages.push(read);
  }
  const temperature = recorded['temperature'];
  return {
    model,
    system: systemOf(recorded['system']),
    tools: tools.map(offerOf),
    messages,
    maxTokens: Number(recorded['max_tokens']),
    ...(typeof temperature === 'number' && { temperature }),
    ...thinkingOf(fields(recorded['thinking'])),
  };
}

function thinkingOf(thinking: Fields): Pick<ModelRequest, 'thinking'> {
  const budget = thinking['budget_tokens'];
  if (thinking['type'] === 'adaptive') return { thinking: { maxTokens: 1, adaptive: true } };
  return typeof budget === 'number' ? { thinking: { maxTokens: budget, adaptive: false } } : {};
}

function systemOf(system: Json | undefined): string {
  if (typeof system === 'string') return system;
  return list(system)
    .map((block) => text(fields(block)['text']))
    .join('\n\n');
}

function messageOf(message: Fields, rawModel: string): RequestMessage | undefined {
  const { role, content } = message;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
  const raw = parts.map((part) => {
    const { cache_control: _, ...block } = fields(part);
    return block;
  });
  if (role === 'assistant') {
    return { role, blocks: raw.flatMap(assistantBlock), raw: raw as Json, rawModel };
  }
  const blocks: Block[] = [];
  for (const part of raw) {
    const block = userBlock(part);
    if (block === undefined) return undefined;
    blocks.push(block);
  }
  return { role: 'user', blocks, ...(role === 'system' && { asSystem: true }) };
}

function assistantBlock(block: Fields): readonly Block[] {
  if (block['type'] === 'text') return [{ type: 'text', text: text(block['text']) }];
  if (block['type'] !== 'tool_use') return [];
  const { id, name, input = {} } = block;
  return [{ type: 'tool_use', id: text(id), tool: text(name), args: input }];
}

function userBlock(block: Fields): Block | undefined {
  if (block['type'] === 'text') return { type: 'text', text: text(block['text']) };
  if (block['type'] !== 'tool_result') return undefined;
  const { content, tool_use_id: id, is_error: isError } = block;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
  if (!parts.every((part) => fields(part)['type'] === 'text')) return undefined;
  const said = parts.map((part) => text(fields(part)['text'])).join('\n');
  return { type: 'tool_result', id: text(id), isError: isError === true, text: said };
}

function offerOf(tool: Fields): ToolOffer {
  const name = text(tool['name']);
  const { cache_control: _, ...declaration } = tool;
  return {
    name,
    wireName: name,
    version: '1',
    description: text(tool['description']),
    inputSchema: tool['input_schema'] ?? {},
    ...('type' in tool && { hosted: { provider: 'anthropic', declaration } }),
  };
}
