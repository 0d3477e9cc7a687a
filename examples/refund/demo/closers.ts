/** What must be closed at the end, in the opposite order of opening, whatever happens in between. */
export interface Closers {
  add(close: () => Promise<void> | void): void;
  /** Closes everything once; a close that fails does not keep the others from closing. */
  closeAll(): Promise<void>;
}

export function createClosers(onError: (error: unknown) => void): Closers {
  const open: (() => Promise<void> | void)[] = [];
  const closeRest = async (): Promise<void> => {
    for (let close = open.pop(); close !== undefined; close = open.pop()) {
      try {
        await close();
      } catch (error) {
        onError(error);
      }
    }
  };
  let closing: Promise<void> | undefined;
  return {
    add: (close) => open.push(close),
    closeAll: () => (closing ??= closeRest()),
  };
}
