/** What must be closed at the end, in the opposite order of opening, whatever happens in between. */
type Close = () => Promise<void> | void;

export interface Closers {
  /** What is opened after the end has begun is closed at once. */
  add(close: Close): void;
  /** Closes everything once; a close that fails does not keep the others from closing. */
  closeAll(): Promise<void>;
}

export function createClosers(onError: (error: unknown) => void): Closers {
  const open: Close[] = [];
  let closing: Promise<void> | undefined;
  const closeOne = async (close: Close): Promise<void> => {
    try {
      await close();
    } catch (error) {
      onError(error);
    }
  };
  const closeRest = async (): Promise<void> => {
    for (let close = open.pop(); close !== undefined; close = open.pop()) await closeOne(close);
  };
  return {
    add(close) {
      if (closing === undefined) open.push(close);
      else void closeOne(close);
    },
    closeAll: () => (closing ??= closeRest()),
  };
}
