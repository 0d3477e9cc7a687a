/**
 * Notices: that a question is open, told to one webhook. A row for each keeps how often that was tried and when it
 * is tried next, so that another console, or the same one after a restart, goes on where it was.
 * Invariants: a question and a target have at most one notice of a kind; whoever sends has claimed the row before,
 * in one statement that one alone can win; what a sender says counts while the claim is still its own; a
 * question that is closed is told to nobody, and its rows are removed.
 *
 *   (no row) ─open→ waiting ─claim→ waiting, claimed ─settle→ sent | waiting | given_up
 *                              └─ the sender died: claimed again after `claimed_until`
 */
import type { NoticeFate } from '../pure/notice.js';
import { ASK_COLUMNS, askRow, type AskRow } from './asks.js';
import { checkIdentifiers, LIST_ROWS_MAX, listLimit } from './bounds.js';
import { change, immediate, rowsOf, type Db } from './database.js';
import type { AskTable, NoticeTable } from './schema.js';

/** Which notice: a question as it was opened once, and who is told. */
export interface NoticeName {
  readonly tenant: string;
  readonly target: string;
  readonly runId: string;
  readonly askId: string;
  /** Of the question. */
  readonly openedAt: number;
}

export interface Notice extends NoticeName {
  readonly state: NoticeFate['state'];
  /** Begun so far, also those of senders that died. */
  readonly tries: number;
  /** When the first was due; this and other times: ms since epoch. */
  readonly firstAt: number;
  /** While it waits. */
  readonly nextAt: number;
  /** What went wrong in the last try. */
  readonly fault?: string;
}

export interface NoticeClaim {
  /** Names the sender, among all consoles. */
  readonly by: string;
  readonly at: number;
  /** From then on another may claim it. */
  readonly until: number;
}

export interface ClaimedNotice extends Notice {
  readonly by: string;
  readonly ask: AskRow;
}

/** A webhook by its name, and what it may hear of. */
export interface NoticeTarget {
  readonly target: string;
  /** Absent: all. */
  readonly tenants?: readonly string[];
}

export interface NoticesWanted extends NoticeTarget {
  readonly at: number;
  readonly limit: number;
}

export interface Notices {
  /** A notice, due at once, for each open question that this target has none of; oldest first; how many. */
  openNotices(wanted: NoticesWanted): Promise<number>;
  /**
   * Notices of open questions that may be claimed now, the longest due first. Of its tenants only, also when
   * somebody has opened others before.
   */
  dueNotices(wanted: NoticesWanted): Promise<readonly NoticeName[]>;
  /** Undefined: somebody else has it, it is not due, or its question is closed. */
  claimNotice(name: NoticeName, claim: NoticeClaim): Promise<ClaimedNotice | undefined>;
  /**
   * False: the claim was another's meanwhile, or the row is gone. A receiver that wants no notice for a while
   * holds back all that wait for it, those of `tenants` if given.
   */
  settleNotice(
    claimed: ClaimedNotice,
    fate: NoticeFate,
    tenants?: readonly string[],
  ): Promise<boolean>;
  /** Of all targets; how many, at most LIST_ROWS_MAX. */
  removeClosedNotices(): Promise<number>;
  /** Of one question as it is open now, by target. */
  listNotices(
    ask: Pick<AskRow, 'tenant' | 'runId' | 'askId' | 'openedAt'>,
  ): Promise<readonly Notice[]>;
  /** Notices of all tenants that were given up while their question is still open. */
  countGivenUpNotices(): Promise<number>;
}

const ASKED = 'asked';

/** The question of a notice, still open and not asked anew. */
const IS_OPEN = `exists (select 1 from asks where asks.tenant = notices.tenant
  and asks.run_id = notices.run_id and asks.ask_id = notices.ask_id
  and asks.opened_at = notices.opened_at and asks.outcome = 'pending')`;

const IS_NAMED = `tenant = @tenant and target = @target and run_id = @runId and ask_id = @askId
  and opened_at = @openedAt and kind = '${ASKED}'`;

const MAY_BE_CLAIMED = `state = 'waiting' and next_at <= @at
  and (claimed_until is null or claimed_until <= @at)`;

const dueOf = (isOfTarget: string): string => `
  select * from notices where ${isOfTarget} and ${MAY_BE_CLAIMED} and ${IS_OPEN}
  order by next_at, opened_at, tenant, ask_id limit @limit`;

const CLAIM = `
  update notices set claimed_by = @by, claimed_until = @until, tries = tries + 1
  where ${IS_NAMED} and ${MAY_BE_CLAIMED}
  returning *`;

const OPEN_ASK = `
  select ${ASK_COLUMNS.join(', ')} from asks where tenant = @tenant and run_id = @runId and ask_id = @askId
    and opened_at = @openedAt and outcome = 'pending'`;

/**
 * The number of the try tells a claim from an earlier one of the same sender. What another sender was asked to
 * wait for meanwhile stays.
 */
const SETTLE = `
  update notices set state = @state, fault = @fault, next_at = case when @nextAt > next_at then @nextAt else next_at end,
    claimed_by = null, claimed_until = null
  where ${IS_NAMED} and state = 'waiting' and claimed_by = @by and tries = @tries`;

const holdBackOf = (isOfTarget: string): string => `
  update notices set next_at = @quietUntil
  where ${isOfTarget} and state = 'waiting' and next_at < @quietUntil`;

const HAS_CLOSED = `select 1 as found from notices where not ${IS_OPEN} limit 1`;

const REMOVE_CLOSED = `
  delete from notices where (tenant, target, run_id, ask_id, opened_at, kind) in (
    select tenant, target, run_id, ask_id, opened_at, kind from notices
    where not ${IS_OPEN} limit ${LIST_ROWS_MAX})`;

const COUNT_GIVEN_UP = `
  select count(*) as rows from notices where state = 'given_up' and ${IS_OPEN}`;

export function notices(db: Db): Notices {
  return {
    async openNotices(wanted) {
      const { target, at } = wanted;
      checkIdentifiers({ target });
      // Looked for first: most rounds find nothing, and need not keep others from writing.
      const untold = await untoldAsks(db, wanted);
      if (untold.length === 0) return 0;
      const first = { kind: ASKED, state: 'waiting', tries: 0, first_at: at, next_at: at };
      const rows = untold.map((ask) => ({ ...ask, target, ...first }));
      const made = await db
        .insertInto('notices')
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return Number(made.numInsertedOrUpdatedRows ?? 0);
    },
    async dueNotices({ at, limit, ...target }) {
      const { isOfTarget, values } = ofTarget(target);
      const bound = { ...values, at, limit: listLimit(limit) };
      return (await rowsOf<NoticeTable>(db, dueOf(isOfTarget), bound)).map(nameOf);
    },
    claimNotice: (name, claim) => claimed(db, name, claim),
    settleNotice: (claim, fate, tenants) => settled(db, { claim, fate, tenants }),
    async removeClosedNotices() {
      if ((await rowsOf(db, HAS_CLOSED, {})).length === 0) return 0;
      return change(db, REMOVE_CLOSED, {});
    },
    async listNotices({ tenant, runId, askId, openedAt }) {
      checkIdentifiers({ tenant, runId, askId });
      const rows = await db
        .selectFrom('notices')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('run_id', '=', runId)
        .where('ask_id', '=', askId)
        .where('opened_at', '=', openedAt)
        .where('kind', '=', ASKED)
        .orderBy('target')
        .limit(LIST_ROWS_MAX)
        .execute();
      return rows.map(noticeOf);
    },
    async countGivenUpNotices() {
      const [counted] = await rowsOf<{ readonly rows: number }>(db, COUNT_GIVEN_UP, {});
      return Number(counted?.rows ?? 0);
    },
  };
}

async function untoldAsks(
  db: Db,
  { target, tenants, limit }: NoticesWanted,
): Promise<readonly Pick<AskTable, 'tenant' | 'run_id' | 'ask_id' | 'opened_at'>[]> {
  if (tenants?.length === 0) return [];
  let open = db
    .selectFrom('asks')
    .select(['tenant', 'run_id', 'ask_id', 'opened_at'])
    .where('outcome', '=', 'pending')
    // A conversation that waits for its user's next message is nobody else's business.
    .where('kind', '<>', 'user_message')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('notices')
            .select('notices.tries')
            .whereRef('notices.tenant', '=', 'asks.tenant')
            .whereRef('notices.run_id', '=', 'asks.run_id')
            .whereRef('notices.ask_id', '=', 'asks.ask_id')
            .whereRef('notices.opened_at', '=', 'asks.opened_at')
            .where('notices.target', '=', target)
            .where('notices.kind', '=', ASKED),
        ),
      ),
    );
  if (tenants !== undefined) open = open.where('tenant', 'in', tenants);
  return open
    .orderBy('opened_at')
    .orderBy('tenant')
    .orderBy('ask_id')
    .limit(listLimit(limit))
    .execute();
}

async function claimed(
  db: Db,
  name: NoticeName,
  claim: NoticeClaim,
): Promise<ClaimedNotice | undefined> {
  const values = boundName(name);
  checkIdentifiers({ by: claim.by });
  const [row] = await rowsOf<NoticeTable>(db, CLAIM, { ...values, ...claim });
  if (row === undefined) return undefined;
  const [ask] = await rowsOf<AskTable>(db, OPEN_ASK, values);
  // Closed: the claim runs out by itself, and the row goes with the others.
  if (ask === undefined) return undefined;
  return { ...noticeOf(row), by: claim.by, ask: askRow(ask) };
}

/** A condition on notices, and what its names stand for. */
function ofTarget({ target, tenants }: NoticeTarget) {
  checkIdentifiers({ target });
  const isOfName = `target = @target and kind = '${ASKED}'`;
  if (tenants === undefined) return { isOfTarget: isOfName, values: { target } };
  const named = tenants.map((tenant, index) => [`tenant${index}`, tenant] as const);
  const isOfTenant =
    named.length === 0 ? 'false' : `tenant in (${named.map(([name]) => `@${name}`).join(', ')})`;
  return {
    isOfTarget: `${isOfName} and ${isOfTenant}`,
    values: { target, ...Object.fromEntries(named) },
  };
}

async function settled(db: Db, { claim, fate, tenants }: Settling): Promise<boolean> {
  const { by, tries, target } = claim;
  const values = {
    ...boundName(claim),
    by,
    tries,
    state: fate.state,
    fault: fate.state === 'sent' ? null : fate.fault,
    nextAt: fate.state === 'waiting' ? fate.nextAt : null,
  };
  const quietUntil = fate.state === 'waiting' ? fate.quietUntil : undefined;
  if (quietUntil === undefined) return (await change(db, SETTLE, values)) > 0;
  const held = ofTarget({ target, ...(tenants !== undefined && { tenants }) });
  return immediate(db, async (tx) => {
    if ((await change(tx, SETTLE, values)) === 0) return false;
    await change(tx, holdBackOf(held.isOfTarget), { ...held.values, quietUntil });
    return true;
  });
}

interface Settling {
  readonly claim: ClaimedNotice;
  readonly fate: NoticeFate;
  readonly tenants: readonly string[] | undefined;
}

function boundName({ tenant, target, runId, askId, openedAt }: NoticeName) {
  checkIdentifiers({ tenant, target, runId, askId });
  return { tenant, target, runId, askId, openedAt };
}

function nameOf(row: NoticeTable): NoticeName {
  const { tenant, target, run_id: runId, ask_id: askId, opened_at: openedAt } = row;
  return { tenant, target, runId, askId, openedAt };
}

function noticeOf(row: NoticeTable): Notice {
  return {
    ...nameOf(row),
    state: row.state as Notice['state'],
    tries: row.tries,
    firstAt: row.first_at,
    nextAt: row.next_at,
    ...(row.fault === null ? {} : { fault: row.fault }),
  };
}
