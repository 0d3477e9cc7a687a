/**
 * The activities of the bare loop: the same HTTP call through the same SDK, streamed, the same tool, and a
 * heartbeat on a timer. In 'delta' mode the worker remembers the conversation, the cheapest thing a loop
 * without a store can do.
 */
import Anthropic from '@anthropic-ai/sdk';
import { heartbeat } from '@temporalio/activity';
import type { BareModelInput, BareToolInput } from './loop.js';
import type { BareMessage, BareReply } from './messages.js';

export interface BareSettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly system: string;
  readonly tools: readonly unknown[];
  readonly runTool: (call: BareToolInput) => Promise<string>;
}

const HEARTBEAT_EVERY_MS = 500;

export function bareActivities(settings: BareSettings) {
  const client = new Anthropic({ apiKey: 'bench', baseURL: settings.baseUrl, maxRetries: 0 });
  const remembered = new Map<string, BareMessage[]>();

  return {
    bare_model: (input: BareModelInput): Promise<BareReply> =>
      beating(async () => {
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
      }),
    bare_tool: (input: BareToolInput): Promise<string> => beating(() => settings.runTool(input)),
  };
}

/** So that a dead worker is noticed within the heartbeat timeout. */
async function beating<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(heartbeat, HEARTBEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
