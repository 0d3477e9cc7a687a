/**
 * A controller whose signal aborts with another one as well, for the same reason. `AbortSignal.any` of both does the same, at
 * several times the cost: it keeps weak references, and each attempt of an activity wants one. `then` is called behind it.
 */
export function follower(
  followed: AbortSignal,
  then: () => void = () => undefined,
): AbortController {
  const own = new AbortController();
  const follow = (): void => {
    own.abort(followed.reason);
    then();
  };
  if (followed.aborted) follow();
  else followed.addEventListener('abort', follow, { once: true });
  return own;
}
