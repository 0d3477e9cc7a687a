/** Chats as their people see them, and models that answer in a way that tells the runs apart. */
import { defineAgent, defineConfig, type Config } from '../../../authoring/index.js';
import { liveParts, type UiMessage } from '../../../http/projection/index.js';
import type { ScriptedAnswer, ScriptedRequest } from '../../../providers/scripted/script.js';
import type { ChatClient, ClientMessage } from '../../http/clients.js';
import { AGENT } from './agents.js';
import { say } from './world.js';

/** Answers the last words of the user, each run in its own way. */
export function echo({ messages, runId }: ScriptedRequest): ScriptedAnswer {
  const words = JSON.stringify(messages.at(-1)?.content);
  const said = /(\w+)\./.exec(words)?.[1];
  return {
    ...say(`You say ${said} (${runId.slice(46, 51)}).`),
    ...(words.includes('Slowly') && SLOW),
  };
}

const SLOW = { chunks: 40, chunkDelayMs: 150 } as const;

export const user = (id: string, text: string) => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
});

/** What people see, without what only one side knows: ids of messages, questions, where texts were cut in pieces. */
export function seen(messages: readonly (ClientMessage | UiMessage)[]) {
  return messages.map(({ role, parts }) => {
    const live = liveParts(parts as ClientMessage['parts']);
    const shown = live.filter(({ type }) => type !== 'step-start' && !type.startsWith('data-'));
    const text = shown.flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : [])).join('');
    const calls = shown.flatMap(({ type, state, toolCallId, input, output }) =>
      toolCallId === undefined ? [] : [{ type, state, toolCallId, input, output }],
    );
    return { role, text, calls };
  });
}

export const lastRun = (chat: ChatClient) =>
  chat.messages.at(-1)?.parts.find(({ type }) => type === 'data-holdfast-run')?.data;

/** And an agent that has another one. */
export function withAuditor({ agents }: Config): Config {
  const { tools } = agents.get(AGENT)!;
  const agent = { model: 'scripted/model', instructions: 'Audit.', tools };
  const clerk = { description: 'Pays.', prompt: 'Pay.', tools: ['pay.asked', 'facts.read'] };
  return defineConfig({
    agents: [
      defineAgent({ name: AGENT, ...agent, instructions: 'Serve the customer.' }),
      defineAgent({ name: 'auditor', ...agent, agents: { clerk } }),
    ],
  });
}
