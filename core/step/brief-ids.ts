/**
 * Ids in a brief payload: those of messages and calls of a run begin with the id of the run.
 * Invariant: `wholeId` gives back every text that `ownId` was given for the same run.
 */

/** `:m7` of `RUN:m7`. What begins with a colon itself gets one more before it. */
export function ownId(id: string, runId: string): string {
  if (id.startsWith(':')) return `:${id}`;
  const behind = id.charCodeAt(runId.length) === COLON && id.charCodeAt(runId.length + 1) !== COLON;
  return behind && id.startsWith(runId) && id.length > runId.length + 1
    ? id.slice(runId.length)
    : id;
}

export function wholeId(id: string, runId: string): string {
  if (id.startsWith('::')) return id.slice(1);
  return id.startsWith(':') ? runId + id : id;
}

const COLON = ':'.charCodeAt(0);
