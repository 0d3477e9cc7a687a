/**
 * The activities of the bare loop: the same HTTP call through the same SDK, streamed, and the same tool.
 * In 'delta' mode the worker remembers the conversation, the cheapest thing a loop without a store can do.
 */
import Anthropic from '@anthropic-ai/sdk';
import type { BareModelInput } from './loop.js';
import type { BareMessage, BareReply } from './messages.js';

export interface BareSettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly system: string;
  readonly tools: readonly unknown[];
  readonly runTool: (name: string, args: unknown) => Promise<string>;
}

export function bareActivities(settings: BareSettings) {
  const client = new Anthropic({ apiKey: 'bench', baseURL: settings.baseUrl, maxRetries: 0 });
  const remembered = new Map<string, BareMessage[]>();

  return {
    async bare_model(input: BareModelInput): Promise<BareReply> {
      const known = input.passes === 'delta' ? (remembered.get(input.run) ?? []) : [];
      const messages = [...known, ...input.messages];
      const message = await client.messages
        .stream({
          model: settings.model,
          max_tokens: 16_384,
          system: settings.system,
          metadata: { user_id: input.run },
          tools: settings.tools as Anthropic.Tool[],
          messages: messages as Anthropic.MessageParam[],
        })
        .finalMessage();
      if (input.passes === 'delta') {
        remembered.set(input.run, [...messages, { role: 'assistant', content: message.content }]);
      }
      const calls = message.content.flatMap((block) =>
        block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
      );
      return { content: message.content, calls };
    },
    bare_tool(input: { readonly name: string; readonly args: unknown }): Promise<string> {
      return settings.runTool(input.name, input.args);
    },
  };
}
