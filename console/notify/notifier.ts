/**
 * Tells webhooks of questions that opened.
 * Invariants: the rows of the store say what is to be told, so that consoles share the work and a restart goes on
 * with it; a question is told once to each (again only when nobody knows whether it arrived, and then as the
 * same message); a webhook that fails holds up no other one, nor a decision; when a notice is tried again,
 * and when it is given up, is decided by core/notice.
 */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookSettings } from '../../authoring/index.js';
import { fateOf, mayTry, takesNone, type NoticeFate } from '../../pure/notice.js';
import { LIST_ROWS_MAX } from '../../store/bounds.js';
import type { ClaimedNotice, NoticeName, NoticeTarget } from '../../store/notices.js';
import { plural } from '../../pure/plural.js';
import type { DeskStore } from '../desk-store.js';
import { linkTo, messageOf, plain } from './message.js';
import { post, SEND_LIMIT_MS } from './webhook.js';

export interface Target extends WebhookSettings {
  readonly secret: string;
}

export interface NotifierSettings {
  readonly store: Pick<
    DeskStore,
    | 'openNotices'
    | 'dueNotices'
    | 'claimNotice'
    | 'settleNotice'
    | 'removeClosedNotices'
    | 'claimClock'
  >;
  readonly targets: readonly Target[];
  readonly publicUrl: string;
  /** Of this machine; rows have the time of {@link storeClock}. */
  readonly clock: () => number;
  readonly say: (line: string) => void;
  /** Pause between two looks; default 2,000. */
  readonly everyMs?: number;
}

export interface Notifier {
  /** Idempotent. What is being sent may end; nothing else is begun. */
  stop(): Promise<void>;
}

const EVERY_MS = 2_000;
/** Questions that a target hears of for the first time, and notices that are sent, in one round. */
const OPENED_MAX = 1_000;
const ROUND_MAX = 50;
/** How long a sender has a notice for itself; a request that could end later is not begun. */
const CLAIM_MS = 60_000;
const MARGIN_MS = 30_000;
const BEGIN_LIMIT_MS = CLAIM_MS - MARGIN_MS - SEND_LIMIT_MS;
const REMOVE_EVERY_MS = 60_000;
/** Times LIST_ROWS_MAX rows: more than a minute opens, and a turn ends. */
const REMOVALS_MAX = 1_000;
/** How long requests under way may take to end when the console does. */
const GRACE_MS = 3_000;

interface Sender extends NotifierSettings {
  /** Names this one among all consoles. */
  readonly by: string;
  /** No more is begun. */
  readonly ending: AbortSignal;
  /** What is under way is broken off. */
  readonly cutting: AbortSignal;
}

/** What one target's loop remembers. Everything that has to survive it is in the rows. */
interface Line {
  readonly target: Target;
  /** The receiver wants no notice before. */
  quietUntil: number;
  isFailing: boolean;
}

interface Told {
  readonly fate: NoticeFate;
  /** Of the receiver, for now. */
  readonly takesNone: boolean;
}

export function startNotifier(settings: NotifierSettings): Notifier {
  const [ending, cutting] = [new AbortController(), new AbortController()];
  const signals = { ending: ending.signal, cutting: cutting.signal };
  const sender: Sender = { ...settings, ...signals, by: randomUUID() };
  const lines = settings.targets.map((target): Line => ({
    target,
    quietUntil: 0,
    isFailing: false,
  }));
  const { everyMs = EVERY_MS } = settings;
  const loops = lines.map((line) => repeat(sender, everyMs, () => round(sender, line)));
  if (lines.length > 0) {
    loops.push(repeat(sender, REMOVE_EVERY_MS, () => removeClosed(sender)));
  }
  return {
    async stop() {
      ending.abort();
      const late = setTimeout(() => cutting.abort(), GRACE_MS);
      await Promise.all(loops);
      clearTimeout(late);
    },
  };
}

async function repeat(
  { ending: signal, say }: Sender,
  everyMs: number,
  work: () => Promise<unknown>,
): Promise<void> {
  let isAway = false;
  while (!signal.aborted) {
    const failed = await work().then(
      () => false,
      () => true,
    );
    if (failed && !isAway) say('Notifications wait: the store does not answer.');
    isAway = failed;
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

async function removeClosed({ store, ending }: Sender): Promise<void> {
  for (let removals = 0; removals < REMOVALS_MAX && !ending.aborted; removals += 1) {
    if ((await store.removeClosedNotices()) < LIST_ROWS_MAX) return;
  }
}

/** The time by the clock that all consoles share, as claims of calls have it (G108); it goes on as that of this machine. */
async function storeClock({ store, clock }: Sender): Promise<() => number> {
  const asked = clock();
  const ahead = (await store.claimClock(asked)) - asked;
  return () => clock() + ahead;
}

async function round(sender: Sender, line: Line): Promise<void> {
  const { store, ending } = sender;
  const target = toldOf(line.target);
  const at = (await storeClock(sender))();
  await store.openNotices({ ...target, at, limit: OPENED_MAX });
  if (at < line.quietUntil) return;
  let [sent, refused] = [0, 0];
  for (const notice of await store.dueNotices({ ...target, at, limit: ROUND_MAX })) {
    if (ending.aborted) return;
    const told = await tell(sender, line, notice);
    if (told?.fate.state === 'sent') sent += 1;
    if (told?.fate.state === 'waiting') refused += 1;
    // The others need not wait for as many time limits. After any other refusal they may well be taken.
    if (told?.takesNone) break;
  }
  if (sent > 0 && refused === 0) remarkEnd(sender, line);
}

function toldOf({ name, tenants }: Target): NoticeTarget {
  return { target: name, ...(tenants !== undefined && { tenants }) };
}

/** Undefined: it was not this one's turn, or nobody knows what became of it. */
async function tell(sender: Sender, line: Line, name: NoticeName): Promise<Told | undefined> {
  const { store, by } = sender;
  const { tenants } = toldOf(line.target);
  // The row may be older than the configuration.
  if (tenants !== undefined && !tenants.includes(name.tenant)) return undefined;
  const now = await storeClock(sender);
  const at = now();
  const claimed = await store.claimNotice(name, { by, at, until: at + CLAIM_MS });
  // A claim that took so long may end before the request does: another sender's turn.
  if (claimed === undefined || now() > at + BEGIN_LIMIT_MS) return undefined;
  const told = await tried(sender, line.target, { claimed, now });
  // Broken off by us, which says nothing about the receiver: the claim runs out, and it is tried again.
  if (told === undefined) return undefined;
  const { fate } = told;
  await store.settleNotice(claimed, fate, tenants);
  remark(sender, line, { claimed, fate });
  if (fate.state === 'waiting') line.quietUntil = fate.quietUntil ?? line.quietUntil;
  return told;
}

async function tried(
  { publicUrl, clock, cutting }: Sender,
  { url, secret, format }: Target,
  { claimed, now }: { readonly claimed: ClaimedNotice; readonly now: () => number },
): Promise<Told | undefined> {
  const { ask, tries, firstAt, fault = 'no answer' } = claimed;
  if (!mayTry(tries)) return { fate: { state: 'given_up', fault }, takesNone: false };
  const body = JSON.stringify(messageOf(format, ask, linkTo(publicUrl, ask)));
  const reply = await post({ url, secret, id: messageId(ask), at: clock(), body }, cutting);
  if (cutting.aborted && reply.kind === 'no_answer') return undefined;
  const fate = fateOf({ reply, tries, firstAt, at: now(), chance: Math.random() });
  return { fate, takesNone: takesNone(reply) };
}

/** The same in every try, so that the other side can tell; of a question asked anew it is another one. */
function messageId({ tenant, runId, askId, openedAt }: ClaimedNotice['ask']): string {
  const name = JSON.stringify([tenant, runId, askId, openedAt]);
  return createHash('sha256').update(name).digest('hex');
}

/** When a webhook begins to fail, and each notice that was given up. */
function remark(
  { say }: Sender,
  line: Line,
  { claimed, fate }: { readonly claimed: ClaimedNotice; readonly fate: NoticeFate },
): void {
  const { name } = line.target;
  if (fate.state === 'given_up') {
    const { askId, tries } = claimed;
    const times = plural(tries, 'try', 'tries');
    say(`Webhook ${name} was not told of ${plain(askId)}: given up after ${times}, ${fate.fault}.`);
    return;
  }
  if (fate.state === 'sent' || line.isFailing) return;
  say(`Webhook ${name} does not take notices (${fate.fault}). They are tried again.`);
  line.isFailing = true;
}

/** Once in a round: a webhook that takes some and refuses others does not fill the log. */
function remarkEnd({ say }: Sender, line: Line): void {
  if (line.isFailing) say(`Webhook ${line.target.name} takes notices again.`);
  line.isFailing = false;
}
