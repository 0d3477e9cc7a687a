/**
 * Who decided a question, of those whom its end names: where several people had to approve, these are all who had said a
 * word. One other word than an approval is enough, and none counts after it: it is the last. What expired nobody decided.
 */
export function decidersOf({ outcome, by }: EndOfQuestion): readonly string[] {
  if (outcome === 'expired') return [];
  return outcome === 'approved' || outcome === 'answered' ? by : by.slice(-1);
}

interface EndOfQuestion {
  readonly outcome: string;
  readonly by: readonly string[];
}
