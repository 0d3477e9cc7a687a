/** Single keys at the terminal of a command that runs on. Ctrl-C stays what it is. */

export interface KeyInput {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
  on(event: 'data', listener: (chunk: Buffer | string) => void): unknown;
  off(event: 'data', listener: (chunk: Buffer | string) => void): unknown;
}

export interface Keys {
  /** Gives the terminal back. */
  release(): void;
}

const CTRL_C = '\u0003';
const NONE: Keys = { release: () => undefined };

/** `interrupt` hears Ctrl-C, which a terminal that gives single keys makes no signal of. */
export function onKeys(
  input: KeyInput,
  actions: Readonly<Record<string, () => void>>,
  interrupt: () => void,
): Keys {
  if (input.isTTY !== true || input.setRawMode === undefined) return NONE;
  const heard = (chunk: Buffer | string): void => {
    for (const key of chunk.toString()) {
      if (key === CTRL_C) interrupt();
      else actions[key.toLowerCase()]?.();
    }
  };
  input.setRawMode(true);
  input.resume();
  input.on('data', heard);
  return {
    release() {
      input.off('data', heard);
      input.setRawMode?.(false);
      input.pause();
    },
  };
}
