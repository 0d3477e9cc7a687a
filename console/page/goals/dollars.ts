/** An amount in dollars as somebody types it. Pure. */

const CENTS = /^(?:(\d{1,9})(?:[.,](\d{1,2}))?|\.(\d{1,2}))$/;
const GROUPED = /^\d{1,3}[.,]\d{3}$/;

export type ReadDollars = { readonly microUsd: number } | { readonly fault: string };

/** Errors: what could mean two amounts is refused, as is what is none. */
export function readDollars(typed: string): ReadDollars {
  const text = typed.trim();
  if (GROUPED.test(text)) {
    const [whole = '', rest = ''] = text.split(/[.,]/);
    return {
      fault: `"${text}" could be two amounts: write ${whole}${rest} or ${whole}.${rest.slice(0, 2)}.`,
    };
  }
  const found = CENTS.exec(text);
  if (found === null) return { fault: 'An amount in dollars is needed, such as 1800 or 2.50.' };
  const [, whole = '0', cents = found[3] ?? ''] = found;
  const microUsd = Number(whole) * 1_000_000 + Number(cents.padEnd(2, '0')) * 10_000;
  return microUsd > 0 ? { microUsd } : { fault: 'A budget is more than $0.' };
}
