/** Task queues that tools name, each with its tools. */
import type { Tool } from './tool.js';

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
