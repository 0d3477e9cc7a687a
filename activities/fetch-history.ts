/** The history of one execution, from the server. */
import type { Context } from '@temporalio/activity';
import { historyJson } from './history-json.js';

const FETCH_MS_MAX = 20_000;

export interface FetchedHistory {
  /** Temporal's JSON. */
  readonly json: Uint8Array;
  /** The execution that it continues; absent: it is the first. */
  readonly continuedFrom?: string;
}

export async function fetchHistory(
  client: Context['client'],
  runId: string,
  execution: string,
): Promise<FetchedHistory> {
  const handle = client.workflow.getHandle(runId, execution);
  const history = await client.withDeadline(Date.now() + FETCH_MS_MAX, () => handle.fetchHistory());
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  const continuedFrom = started?.continuedExecutionRunId;
  return {
    json: Buffer.from(historyJson().write(history), 'utf8'),
    ...(continuedFrom ? { continuedFrom } : {}),
  };
}
