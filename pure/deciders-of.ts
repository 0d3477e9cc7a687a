/**
 * Who decided a question, of those whom its end names: where several people had to approve, these are all who had said a
 * word. One other word than an approval is enough, and none counts after it: it is the last. What expired nobody decided.
 */
export function decidersOf({ outcome, by }: EndOfQuestion): readonly string[] {
  if (outcome === 'expired') return [];
  return outcome === 'approved' || outcome === 'answered' ? by : by.slice(-1);
}

/** ` by ana, bob`, behind the outcome; of what expired ` (only ana approved)`, where several had to. */
export function endWords(
  { outcome, by }: EndOfQuestion,
  named: (name: string) => string = (name) => name,
): string {
  const isExpired = outcome === 'expired';
  const names = (isExpired ? by : decidersOf({ outcome, by })).map(named).join(', ');
  if (names === '') return '';
  return isExpired ? ` (only ${names} approved)` : ` by ${names}`;
}

interface EndOfQuestion {
  readonly outcome: string;
  readonly by: readonly string[];
}
