/**
 * What leaves for another agent, within a limit: long texts are cut and say so, long lists end and say so.
 * Invariant: no result is larger than RESULT_BYTES_MAX, whatever a run has written.
 */
export const RESULT_BYTES_MAX = 48 * 1024;

/** From the usual one to what always fits. */
const STEPS = [
  { chars: 4_000, items: 200 },
  { chars: 1_000, items: 200 },
  { chars: 250, items: 100 },
  { chars: 80, items: 25 },
] as const;
type Step = (typeof STEPS)[number];

const DEPTH_MAX = 24;
const NAMES_MAX = 100;
const NAME_CHARS_MAX = 200;

export function bounded(value: object): Readonly<Record<string, unknown>> {
  for (const step of STEPS) {
    const cut = cutDown(value, step, 0) as Readonly<Record<string, unknown>>;
    if (Buffer.byteLength(JSON.stringify(cut)) <= RESULT_BYTES_MAX) return cut;
  }
  return { tooLarge: `More than ${RESULT_BYTES_MAX} bytes. Ask for less: a smaller limit.` };
}

function cutDown(value: unknown, step: Step, depth: number): unknown {
  if (typeof value === 'string') return cutText(value, step.chars);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return '… (deeper than is shown)';
  if (Array.isArray(value)) {
    const shown = value.slice(0, step.items).map((one) => cutDown(one, step, depth + 1));
    const left = value.length - shown.length;
    return left === 0 ? shown : [...shown, `… (${left} more)`];
  }
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  const shown = entries
    .slice(0, NAMES_MAX)
    .map(([name, field]) => [cutText(name, NAME_CHARS_MAX), cutDown(field, step, depth + 1)]);
  const left = entries.length - shown.length;
  return Object.fromEntries(left === 0 ? shown : [...shown, ['…', `${left} more fields`]]);
}

function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}… (cut, ${text.length} characters)`;
}
