/** What must be closed at the end, in the opposite order of opening, whatever happens in between. */
export interface Closers {
  add(close: () => Promise<void>): void;
  /**
   * Closes everything that is open, each once; a close that fails does not keep the others from closing.
   * Again, for what was opened meanwhile.
   */
  closeAll(): Promise<void>;
}

export function createClosers(): Closers {
  const open: (() => Promise<void>)[] = [];
  const closeRest = async (): Promise<void> => {
    for (let close = open.pop(); close !== undefined; close = open.pop()) {
      await close().catch((error: unknown) => {
        process.stderr.write(`While closing: ${String(error)}\n`);
      });
    }
  };
  let closing = Promise.resolve();
  return {
    add: (close) => open.push(close),
    closeAll: () => (closing = closing.then(closeRest)),
  };
}
