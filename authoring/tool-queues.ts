/** Task queues that tools name, or need, each with its tools. */
import type { ToolRecord } from '../core/state/tool.js';
import type { Tool } from './tool.js';

/** Where calls in a sandbox go whose tools name no queue (G18): beside the queue of runs. */
export function sandboxQueueOf(taskQueue: string): string {
  return `${taskQueue}.sandbox`;
}

/** The tool runs in a sandbox, and names no queue for that. */
export function needsSandboxQueue({ sandbox = 'none', sandboxQueue, queue }: ToolRecord): boolean {
  return sandbox !== 'none' && sandboxQueue === undefined && queue === undefined;
}

/** Tools whose calls in a sandbox go to the sandbox queue. */
export function sandboxTools(tools: Iterable<Tool>): readonly Tool[] {
  return [...tools].filter(({ record }) => needsSandboxQueue(record));
}

/** Queues that tools name. */
export function queuesOf(
  tools: Iterable<Pick<Tool, 'record'>>,
): readonly (readonly [queue: string, tools: readonly string[]])[] {
  const byQueue = new Map<string, Set<string>>();
  for (const { record } of tools) {
    for (const queue of [record.queue, record.sandboxQueue]) {
      if (queue === undefined) continue;
      byQueue.set(queue, (byQueue.get(queue) ?? new Set()).add(record.name));
    }
  }
  return [...byQueue].map(([queue, names]) => [queue, [...names]] as const);
}
