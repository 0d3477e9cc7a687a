/**
 * A controller whose signal aborts with another one as well, for the same reason. `AbortSignal.any` of both does the same, at
 * several times the cost: it keeps weak references, and each attempt of an activity wants one.
 */
export function follower(followed: AbortSignal): AbortController {
  const own = new AbortController();
  if (followed.aborted) own.abort(followed.reason);
  else followed.addEventListener('abort', () => own.abort(followed.reason), { once: true });
  return own;
}
