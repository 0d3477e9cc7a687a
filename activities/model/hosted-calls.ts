/**
 * What the vendor's own tools did for a reply (G48), in the form in which a run takes it: bounded, texts in the
 * store. The vendor's blocks themselves stay in the transcript.
 */
import type { Json, StoredText } from '../../core/json/json.js';
import type { AttemptBound, HostedCall, Reply } from '../../core/state/model.js';
import type { ToolOffer } from '../../core/state/transcript.js';
import type { HostedUse } from '../../providers/provider.js';
import type { StoreCalls } from '../../store/store.js';
import { offerOf } from './proposed-calls.js';
import { storeText } from '../tool/store-result.js';

const LISTED_MAX = 32;
const TEXT_BYTES_MAX = 512;
/** Of one payload, the other parts of the reply included. */
const REPLY_BYTES_MAX = 44_000;
const NAME_CHARS_MAX = 64;
const ID_CHARS_MAX = 128;

export interface HostedSite {
  readonly store: StoreCalls;
  readonly tenant: string;
  readonly offers: readonly ToolOffer[];
  readonly bound: AttemptBound;
}

/** `others`: the rest of the reply, which comes first. Undefined: the vendor ran nothing. */
export async function hostedOf(
  site: HostedSite,
  uses: readonly HostedUse[] | undefined,
  others: unknown,
): Promise<Reply['hosted']> {
  if (uses === undefined || uses.length === 0) return undefined;
  let left = REPLY_BYTES_MAX - bytesOf(others);
  const calls: HostedCall[] = [];
  for (const use of uses.slice(0, LISTED_MAX)) {
    const call = await hostedCall(site, use);
    left -= bytesOf(call);
    if (left < 0) break;
    calls.push(call);
  }
  return { calls, unlisted: uses.length - calls.length, feesMicroUsd: feesOf(site.bound, uses) };
}

async function hostedCall(site: HostedSite, use: HostedUse): Promise<HostedCall> {
  const place = { ...site, inlineBytesMax: TEXT_BYTES_MAX };
  const text = (value: Json): Promise<StoredText> => storeText(place, JSON.stringify(value));
  return {
    id: use.id.slice(0, ID_CHARS_MAX),
    tool: (offerOf(site.offers, use.tool)?.name ?? use.tool).slice(0, NAME_CHARS_MAX),
    args: await text(use.args),
    isError: use.isError,
    content: await text(use.result),
  };
}

/** Fees for uses that came to something; their tokens are billed with the reply. */
export function feesOf({ fees }: AttemptBound, uses: readonly HostedUse[] = []): number {
  const each = new Map(Object.entries(fees?.each ?? {}));
  return uses
    .filter(({ isError }) => !isError)
    .reduce((sum, { tool }) => sum + (each.get(tool) ?? 0), 0);
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
