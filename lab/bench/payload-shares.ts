/** What the bytes of a history are: inputs and results by activity, and all the rest. */
import type { Client } from '@temporalio/client';
import { historySize } from './history-size.js';

/** Bytes by `<activity> input`, `<activity> result` and `everything else`. */
export type PayloadShares = { readonly [part: string]: number };

/** Of a run whose history is one segment. */
export async function payloadShares(client: Client, workflowId: string): Promise<PayloadShares> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const shares: { [part: string]: number } = {};
  const kinds = new Map<string, string>();
  const add = (part: string, payloads: readonly { data?: Uint8Array | null }[] | null = []) => {
    const bytes = (payloads ?? []).reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
    shares[part] = (shares[part] ?? 0) + bytes;
  };
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const completed = event.activityTaskCompletedEventAttributes;
    if (scheduled) {
      const kind = scheduled.activityType?.name ?? '';
      kinds.set(String(event.eventId), kind);
      add(`${kind} input`, scheduled.input?.payloads);
    }
    if (completed) {
      const kind = kinds.get(String(completed.scheduledEventId)) ?? '';
      add(`${kind} result`, completed.result?.payloads);
    }
  }
  const { bytes } = await historySize(client, workflowId);
  const known = Object.values(shares).reduce((sum, part) => sum + part, 0);
  return { ...shares, 'everything else': bytes - known };
}

export function shareLine(name: string, shares: PayloadShares, turns: number): string {
  const parts = Object.entries(shares)
    .toSorted(([, a], [, b]) => b - a)
    .map(([part, bytes]) => `${part} ${(bytes / turns).toFixed(0)}`);
  return `${name}, bytes per turn: ${parts.join(', ')}`;
}
