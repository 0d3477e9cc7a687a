/** The chain of executions that continue-as-new makes of one run. */
import { attributesOf, textAt, typeOf, type HistoryEvent } from './history.js';

/** One execution of the chain that continue-as-new makes. */
export interface Segment {
  /** From 0. */
  readonly segment: number;
  /** Temporal run id. */
  readonly execution: string;
  /** Where the history was read: the server, or the store's archive of closed segments. */
  readonly source: 'temporal' | 'store';
  readonly events: readonly HistoryEvent[];
}

/** The execution that this history continues; undefined: it is the first. */
export function continuedFrom(events: readonly HistoryEvent[]): string | undefined {
  return textAt(attributesOf(events[0], 'workflowExecutionStarted'), 'continuedExecutionRunId');
}

const ENDINGS: readonly string[] = [
  'WORKFLOW_EXECUTION_COMPLETED',
  'WORKFLOW_EXECUTION_FAILED',
  'WORKFLOW_EXECUTION_CANCELED',
  'WORKFLOW_EXECUTION_TERMINATED',
  'WORKFLOW_EXECUTION_TIMED_OUT',
  'WORKFLOW_EXECUTION_CONTINUED_AS_NEW',
];

export function isClosed(events: readonly HistoryEvent[]): boolean {
  const last = events.at(-1);
  return last !== undefined && isEnding(last);
}

export function isEnding(event: HistoryEvent): boolean {
  return ENDINGS.includes(typeOf(event));
}

/** Why these segments are no whole chain. */
export function brokenChain(segments: readonly Segment[]): string | undefined {
  let before: Link | undefined;
  for (const segment of segments) {
    const broken = brokenLink(segment, before);
    if (broken !== undefined) return broken;
    before = linkOf(segment);
  }
  return undefined;
}

/** What the next segment of a chain is to fit. */
export interface Link {
  readonly segment: number;
  readonly execution: string;
  /** Type of the last event. */
  readonly last: string;
}

export function linkOf({ segment, execution, events }: Segment): Link {
  return { segment, execution, last: typeOf(events.at(-1)!) };
}

/** Why a segment does not follow the one before it. */
export function brokenLink(
  { segment, events }: Segment,
  before: Link | undefined,
): string | undefined {
  const index = before === undefined ? 0 : before.segment + 1;
  if (before !== undefined && before.last !== 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW') {
    return `segment ${before.segment} does not end by continuing as new`;
  }
  const what = `segment ${index}`;
  if (segment !== index) return `${what} is not where it should be`;
  const [first] = events;
  if (first === undefined || typeOf(first) !== 'WORKFLOW_EXECUTION_STARTED') {
    return `${what} does not begin with the start of an execution`;
  }
  if (events.some(({ eventId }, at) => Number(eventId) !== at + 1)) {
    return `${what} has gaps in its history`;
  }
  if (continuedFrom(events) !== before?.execution) {
    return `${what} does not continue the one before it`;
  }
  return undefined;
}

/** How a worker names its code with every workflow task that it completes. */
export function codeOf(event: HistoryEvent): string | undefined {
  const completed = attributesOf(event, 'workflowTaskCompleted');
  return textAt(completed, 'workerVersion', 'buildId') ?? textAt(completed, 'binaryChecksum');
}
