/** What a project that has installed the package may write; compiled and run by `.ci/packed`. */
import {
  defineAgent,
  HoldfastError,
  LoopError,
  query,
  type QueryOptions,
  type SDKMessage,
} from 'holdfast';
import { chatHandler, type ChatHandler } from 'holdfast/http';
import { liveParts, type UiChunk } from 'holdfast/http/projection';
import { readBundle } from 'holdfast/testing';
import { startWorker, type WorkerSettings } from 'holdfast/worker';
import type { runAgent } from 'holdfast/workflows';

export type Runs = typeof runAgent;
export type Settings = WorkerSettings;
export type Chat = ChatHandler;
export type Chunk = UiChunk;

const agent = defineAgent({
  name: 'orders',
  model: 'anthropic/x',
  instructions: 'Be brief.',
  tools: [],
});

// @ts-expect-error there is no such mode
export const wrong: QueryOptions = { agent: 'orders', permissionMode: 'yolo' };

export function words(message: SDKMessage): string {
  if (message.type === 'result') {
    return message.subtype === 'success' ? message.result : message.errors.join(' ');
  }
  return message.type;
}

async function main(): Promise<void> {
  // Nothing listens there: the query says so, and leaves nothing behind that would keep this process alive.
  const connection = { address: '127.0.0.1:9', connectLimitMs: 300 };
  const run = query({ prompt: 'Where is it?', options: { agent: agent.name, connection } });
  const said = await run.next().catch((error: unknown) => error);
  const isRight = said instanceof HoldfastError && said.code === 'ServerUnavailable';
  const loaded = [LoopError, readBundle, startWorker, chatHandler, liveParts].every(
    (one) => typeof one === 'function',
  );
  if (!isRight || !loaded) throw new Error(`unexpected: ${String(said)}`);
}

void main();
