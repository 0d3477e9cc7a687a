/**
 * What of recorded conversations vendors read from their caches: the requests are the real ones, the caches follow the
 * documented rules (vendor-cache.ts). Best possible is that every part which an earlier request of the conversation
 * had is read.
 */
import { DEFAULT_BUDGET } from '../../../core/state/budget-fields.js';
import { startScriptedModel } from '../../../testing/index.js';
import { localFacts, type MachineFacts } from '../machine.js';
import type { BenchOptions } from '../setting.js';
import { median } from '../statistics.js';
import { conversations, turnsOf, type Conversation } from './conversation.js';
import { replying } from './play.js';
import { tokensOf, type Piece } from './vendor-cache.js';
import { vendorNamed, VENDORS, type Rule, type Vendor } from './vendors.js';
import { inTwoProcesses, playAlone, type Given, type Way } from './ways.js';

export interface CacheOptions extends BenchOptions {
  /** Where the folder `material` lies. */
  readonly recordings: string;
  /** Of each recording the longest. */
  readonly conversations: number;
  /** Between two requests of a conversation. */
  readonly gapMs: number;
  /** Names; default: all. */
  readonly vendors?: readonly string[];
}

/** Input tokens of all requests of one conversation. */
export interface Counted {
  readonly id: string;
  readonly turns: number;
  readonly requests: number;
  readonly read: number;
  readonly written: number;
  readonly uncached: number;
  /** Of parts that an earlier request had. */
  readonly possible: number;
  /** Of those, what the rule allows: in requests where they have its least length. */
  readonly allowed: number;
}

export interface CacheRow {
  readonly vendor: string;
  readonly rule: string;
  readonly way: string;
  readonly median: number;
  readonly worst: number;
  readonly ofPossible: number;
  /** Below the bound although the rule lets them reach it. */
  readonly below: readonly string[];
  readonly counted: readonly Counted[];
}

export interface CacheReport {
  readonly machine: MachineFacts;
  readonly source: string;
  readonly rows: readonly CacheRow[];
  /** Conversations whose bytes differed after another way through the workers. */
  readonly differing: readonly string[];
  readonly good: boolean;
}

export const READ_MIN = 0.85;
/** The bound is for conversations of so many turns. */
export const TURNS_MIN = 20;
/** How much of what a conversation adds to its first request has room before a summary is made. */
const ROOM_SHARE = 0.6;
const RESTART_EVERY = 3;
const SEGMENT_EVERY = 7;

export async function benchCache(options: CacheOptions): Promise<CacheReport> {
  const { say, recordings, vendors = VENDORS.map(({ name }) => name) } = options;
  const { source, list } = conversations([recordings], options.conversations);
  say(
    `conversations: ${source}; ${list.length}, ${list.filter(isLong).length} of at least ${TURNS_MIN} turns`,
  );
  let current = list[0]!;
  const model = await startScriptedModel({
    script: replying(() => current),
    log: { bodies: false, limit: 10 },
  });
  const rows: CacheRow[] = [];
  const differing: string[] = [];
  const bench: Bench = {
    list,
    baseUrl: model.baseUrl,
    source: { recordings, count: options.conversations },
    talksOf: (conversation) => (current = conversation),
  };
  try {
    for (const vendor of vendors.map(vendorNamed)) {
      const { bodies, differs } = await requestsOf(bench, vendor);
      differing.push(...differs);
      for (const row of rowsOf({ vendor, bodies, gapMs: options.gapMs })) {
        rows.push(row);
        say(lineOf(row));
      }
    }
  } finally {
    await model.stop();
  }
  const good = differing.length === 0 && rows.every(({ below }) => below.length === 0);
  say(
    differing.length === 0
      ? 'the same bytes after restarts, continue-as-new and in other processes'
      : `other bytes: ${differing.join(', ')}`,
  );
  return { machine: localFacts(), source, rows, differing, good };
}

interface Bench {
  readonly list: readonly Conversation[];
  readonly baseUrl: string;
  readonly source: Parameters<typeof inTwoProcesses>[1];
  /** The scripted model answers as in this one from now on. */
  talksOf(conversation: Conversation): void;
}

/** All requests to one vendor, by the way of the conversations, and those that were not the same on another way. */
async function requestsOf({ list, baseUrl, source, talksOf }: Bench, vendor: Vendor) {
  const bodies = new Map<string, Requests[]>(WAYS.map(({ name }) => [name, []]));
  const differs: string[] = [];
  for (const conversation of list) {
    talksOf(conversation);
    const given = { conversation, vendor, baseUrl };
    const plain = (await playAlone(given)).bodies;
    for (const { name, way } of WAYS) {
      const played = way({ conversation, bodies: plain });
      const { bodies: sent } = name === PLAIN ? { bodies: plain } : await playAlone(given, played);
      bodies.get(name)!.push({ conversation, bodies: sent, from: played.forkAt ?? 0 });
    }
    if (!(await sameElsewhere(given, plain))) differs.push(`${vendor.name} ${conversation.id}`);
  }
  const longest = bodies.get(PLAIN)!.toSorted(longestFirst)[0]!;
  const { conversation } = longest;
  talksOf(conversation);
  const apart = await inTwoProcesses({ conversation, vendor, baseUrl }, source);
  if (!sameBytes(longest.bodies, apart))
    differs.push(`${vendor.name} ${conversation.id}, processes`);
  return { bodies, differs };
}

interface Sent {
  readonly vendor: Vendor;
  readonly bodies: ReadonlyMap<string, readonly Requests[]>;
  readonly gapMs: number;
}

function rowsOf({ vendor, bodies, gapMs }: Sent): readonly CacheRow[] {
  return vendor.rules.flatMap((rule) =>
    [...bodies].map(([way, requests]) => rowOf({ vendor, rule, way, requests, gapMs })),
  );
}

const PLAIN = 'as recorded';
type Recorded = Pick<Requests, 'conversation' | 'bodies'>;
const WAYS: readonly { readonly name: string; readonly way: (of: Recorded) => Way }[] = [
  { name: PLAIN, way: () => ({}) },
  // The model is told what is left of its turns, other words with each request.
  { name: 'turns nearly used', way: ({ conversation }) => ({ turnsMax: turnsOf(conversation) }) },
  { name: 'with summaries', way: ({ bodies }) => ({ contextWindow: narrow(bodies) }) },
  // The second half is another run, which has the cache of the first; its requests alone count.
  {
    name: 'a fork',
    way: ({ conversation }) => ({ forkAt: Math.floor(turnsOf(conversation) / 2) }),
  },
];

/** A window that about two thirds of the conversation fill. */
function narrow(bodies: readonly string[]): number {
  const [first = 0, last = 0] = [bodies[0], bodies.at(-1)].map((body) => (body?.length ?? 0) / 4);
  return Math.ceil((first + (last - first) * ROOM_SHARE) / DEFAULT_BUDGET.compactionThreshold);
}

function isLong(conversation: Conversation): boolean {
  return turnsOf(conversation) >= TURNS_MIN;
}

interface Requests {
  readonly conversation: Conversation;
  readonly bodies: readonly string[];
  /** The first one that counts. */
  readonly from: number;
}

function longestFirst(a: Requests, b: Requests): number {
  return turnsOf(b.conversation) - turnsOf(a.conversation);
}

async function sameElsewhere(given: Given, plain: readonly string[]): Promise<boolean> {
  const ways = { restartEvery: RESTART_EVERY, segmentEvery: SEGMENT_EVERY };
  const { bodies } = await playAlone(given, ways);
  return sameBytes(plain, bodies);
}

function sameBytes(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((body, index) => body === b[index]);
}

interface Reckoned {
  readonly vendor: Vendor;
  readonly rule: Rule;
  readonly way: string;
  readonly requests: readonly Requests[];
  readonly gapMs: number;
}

function rowOf({ vendor, rule, way, requests, gapMs }: Reckoned): CacheRow {
  const counted = requests.map(({ conversation, bodies, from }) => ({
    id: conversation.id,
    turns: turnsOf(conversation),
    ...countedOf({ rule, requests: bodies.map((body) => vendor.pieces(body)), gapMs, from }),
  }));
  const long = counted.filter(({ turns }) => turns >= TURNS_MIN);
  const ratios = long.map(readShare);
  const below = long.filter(
    (one) => readShare(one) < READ_MIN && one.allowed / allOf(one) >= READ_MIN,
  );
  return {
    vendor: vendor.name,
    rule: rule.name,
    way,
    median: median(ratios),
    worst: Math.min(...ratios),
    ofPossible: median(long.map(({ read, possible }) => read / possible)),
    below: below.map(({ id }) => id),
    counted,
  };
}

/** Counts one conversation on an empty cache of its vendor, from a request on. */
export function countedOf({
  rule,
  requests,
  gapMs,
  from = 0,
}: {
  readonly rule: Rule;
  readonly requests: readonly (readonly Piece[])[];
  readonly gapMs: number;
  readonly from?: number;
}): Omit<Counted, 'id' | 'turns'> {
  const cache = rule.open();
  const seen = new Set<string>();
  let counted = { read: 0, written: 0, uncached: 0, possible: 0, allowed: 0 };
  for (const [index, pieces] of requests.entries()) {
    const { read, written, uncached } = cache.take(pieces, index * gapMs);
    const known = tokensOf(pieces.filter(({ text }) => seen.has(text)));
    for (const { text } of pieces) seen.add(text);
    if (index < from) continue;
    counted = {
      read: counted.read + read,
      written: counted.written + written,
      uncached: counted.uncached + uncached,
      possible: counted.possible + known,
      allowed: counted.allowed + (known >= rule.tokensMin ? known : 0),
    };
  }
  return { requests: requests.length - from, ...counted };
}

function allOf({ read, written, uncached }: Counted): number {
  return read + written + uncached;
}

function readShare(counted: Counted): number {
  return counted.read / allOf(counted);
}

function lineOf({ vendor, rule, way, counted, below, ...row }: CacheRow): string {
  const long = counted.filter(({ turns }) => turns >= TURNS_MIN);
  const sum = (part: (one: Counted) => number): number =>
    long.reduce((total, one) => total + part(one), 0);
  const share = (part: (one: Counted) => number): string => percent(sum(part) / sum(allOf));
  const missed = below.length === 0 ? '' : `; below ${percent(READ_MIN)}: ${below.join(', ')}`;
  return (
    `${vendor}, ${rule}, ${way}: read ${percent(row.median)} of the input (worst ${percent(row.worst)}), ` +
    `${percent(row.ofPossible)} of the best possible; of all read ${share(({ read }) => read)}, ` +
    `written ${share(({ written }) => written)}, uncached ${share(({ uncached }) => uncached)}${missed}`
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
