/**
 * The end of a reply in the three versions of the AI SDK's interface, in one form.
 * Invariant: a stream that was cut is never complete. Packages tell of one as `interrupted`, as `other` without
 * the vendor's own reason, or (v2) as `unknown`; none of them throws.
 */
import type { ReplyStop, Usage } from '../../core/state/model.js';
import { isRecord, type MutableRecord } from '../json-record.js';

export interface Ending {
  readonly kind: 'complete' | 'cut' | 'error';
  readonly stop: ReplyStop;
  /** The vendor's own word, bounded. */
  readonly raw: string | undefined;
  readonly usage: Usage;
  /** The vendor has counted both input and output. */
  readonly usageFinal: boolean;
}

const RAW_CHARS_MAX = 200;
const STOPS: ReadonlyMap<string, ReplyStop> = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['content-filter', 'refusal'],
  ['tool-calls', 'tool_use'],
]);

export function endingOf(part: Readonly<Record<string, unknown>>): Ending {
  const given = part['finishReason'];
  const { unified, raw } = isRecord(given)
    ? { unified: given['unified'], raw: given['raw'] }
    : { unified: given, raw: undefined };
  const counted = usageOf(part['usage']);
  const reason = typeof unified === 'string' ? unified : '';
  const said = typeof raw === 'string' && raw !== '' ? raw.slice(0, RAW_CHARS_MAX) : undefined;
  const stop = STOPS.get(reason);
  // A v2 model has no word of its vendor's: of `other` only the usage says that the vendor ended it.
  const ended = said !== undefined || (typeof given === 'string' && counted.usageFinal);
  const kind =
    reason === 'error'
      ? 'error'
      : stop !== undefined || (reason === 'other' && ended)
        ? 'complete'
        : 'cut';
  return { kind, stop: stop ?? 'unknown', raw: said, ...counted };
}

/** V3 and V4 count in two objects, V2 in one flat one; cached input is part of the total. */
function usageOf(given: unknown): Pick<Ending, 'usage' | 'usageFinal'> {
  const usage = isRecord(given) ? given : {};
  const nested = isRecord(usage['inputTokens']) || isRecord(usage['outputTokens']);
  return nested ? nestedUsage(usage) : flatUsage(usage);
}

function nestedUsage(usage: MutableRecord): Pick<Ending, 'usage' | 'usageFinal'> {
  const input = isRecord(usage['inputTokens']) ? usage['inputTokens'] : {};
  const output = isRecord(usage['outputTokens']) ? usage['outputTokens'] : {};
  const parts = [input['noCache'], input['cacheRead'], input['cacheWrite']];
  return counted(
    {
      total: tokens(input['total']) ?? sumOf(parts),
      cacheRead: tokens(input['cacheRead']) ?? 0,
      cacheWrite: tokens(input['cacheWrite']) ?? 0,
    },
    largest(tokens(output['total']), sumOf([output['text'], output['reasoning']])),
  );
}

function flatUsage(usage: MutableRecord): Pick<Ending, 'usage' | 'usageFinal'> {
  const input = tokens(usage['inputTokens']);
  const total = tokens(usage['totalTokens']);
  // Some packages leave reasoning out of the output and have it only in the total.
  const rest = input === undefined || total === undefined ? undefined : Math.max(0, total - input);
  const output = tokens(usage['outputTokens']);
  return counted(
    { total: input, cacheRead: tokens(usage['cachedInputTokens']) ?? 0, cacheWrite: 0 },
    output === undefined ? undefined : largest(output, rest),
  );
}

function counted(
  given: { readonly total: number | undefined; cacheRead: number; cacheWrite: number },
  output: number | undefined,
): Pick<Ending, 'usage' | 'usageFinal'> {
  const { total = 0 } = given;
  const cacheRead = Math.min(total, given.cacheRead);
  const cacheWrite = Math.min(total - cacheRead, given.cacheWrite);
  const usage = {
    input: total - cacheRead - cacheWrite,
    output: output ?? 0,
    cacheRead,
    cacheWrite,
  };
  return { usage, usageFinal: given.total !== undefined && output !== undefined };
}

function tokens(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

function sumOf(values: readonly unknown[]): number | undefined {
  const known = values.map(tokens).filter((one) => one !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0);
}

function largest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : Math.max(one, other ?? 0);
}
