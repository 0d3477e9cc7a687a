/** A button that cannot be pressed again while what it did is under way. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

export interface ButtonProps {
  readonly label: string;
  readonly kind?: 'primary' | 'danger' | 'quiet';
  readonly press: () => Promise<unknown> | void;
}

export function Button({ label, kind = 'quiet', press }: ButtonProps): VNode {
  const [isBusy, setBusy] = useState(false);
  const work = async (): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    try {
      await press();
    } finally {
      setBusy(false);
    }
  };
  const busy = isBusy ? ({ 'aria-busy': 'true' } as const) : {};
  return (
    <button type="button" class={`button ${kind}`} {...busy} onClick={() => void work()}>
      {label}
    </button>
  );
}
