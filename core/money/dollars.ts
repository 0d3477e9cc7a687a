/** Money in texts that people read. */
const MICRO = 1_000_000;

/** `$0.0123`: whole micro-USD, at least cents, no digit lost. Without Intl, whose data differ between releases. */
export function dollars(microUsd: number): string {
  const amount = Math.abs(Math.trunc(microUsd));
  const digits = String(amount % MICRO).padStart(6, '0');
  const fraction = digits.replace(/0+$/, '').padEnd(2, '0');
  return `${microUsd < 0 ? '-' : ''}$${Math.trunc(amount / MICRO)}.${fraction}`;
}
