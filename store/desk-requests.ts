/**
 * Requests to the desk that must count once, by the key that their sender gave them: a decision sent again
 * is the same decision, made at the same time, with the same answer.
 * Invariants: a key of a person means one request for ever; its first `at` stays; an answer is kept once, and one
 * that holds for now alone is only counted; an answer that promised more than came true is corrected.
 */
import { checkIdentifiers } from './bounds.js';
import { change, immediate, rowsOf, type Db } from './database.js';

export interface DeskRequest {
  readonly tenant: string;
  readonly by: string;
  readonly key: string;
  /** Digest of what was asked for. */
  readonly digest: string;
  readonly at: number;
}

type RequestName = Pick<DeskRequest, 'tenant' | 'by' | 'key'>;

interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

export type TakenRequest =
  /** Go on; `at` is when it was first sent, `refusals` how often it was refused for now. */
  | { readonly kind: 'open'; readonly at: number; readonly refusals: number }
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  /** The key was used for something else, whose digest this is, and then. */
  | { readonly kind: 'other'; readonly digest: string; readonly at: number };

/** Which of the requests: those that `body` marks as taken by this one, or not as settled (`=…`), or all. */
export type RequestsWanted = 'all' | 'unsettled' | { readonly takenBy: string };

export type NotedRequest = Pick<DeskRequest, 'key' | 'digest' | 'at'> & {
  readonly body: string | null;
};

export interface DeskRequests {
  takeRequest(request: DeskRequest): Promise<TakenRequest>;
  answerRequest(request: RequestName, answer: KeptAnswer): Promise<void>;
  /** The kept answer said yes, or not yet, and the request has failed since. */
  correctRequest(request: RequestName, answer: KeptAnswer): Promise<void>;
  /** It was refused for now; `refusals` counts this one. What is answered stays answered. */
  noteRefusal(request: RequestName, refusals: number): Promise<void>;
  /** Requests of this person whose keys begin with this one, the oldest first. */
  requestsBelow(below: RequestName, wanted: RequestsWanted): Promise<readonly NotedRequest[]>;
  /** Of all that mark a request at once one does; false: somebody else has, and the mark is another one. */
  markRequest(
    request: RequestName & { readonly from: string | null },
    to: string,
  ): Promise<boolean>;
}

const BELOW = `
  select key, digest, at, body from desk_requests
  where tenant = @tenant and by_whom = @by and key >= @key and key < @end`;

/** Of one conversation; what stands behind them is not looked at. */
const BELOW_MAX = 10_000;

const MARK = `
  update desk_requests set body = @to
  where tenant = @tenant and by_whom = @by and key = @key and coalesce(body, '') = @from`;

export function deskRequests(db: Db): DeskRequests {
  return {
    async takeRequest(request) {
      const { tenant, by, key } = request;
      checkIdentifiers({ tenant, by, key });
      return immediate(db, (tx) => take(tx, request));
    },
    async answerRequest(request, answer) {
      await changed(db, request, answer).where('status', 'is', null).execute();
    },
    async correctRequest(request, answer) {
      await changed(db, request, answer).where('status', 'in', [200, 202]).execute();
    },
    async noteRefusal(request, refusals) {
      const counted = { body: String(refusals) };
      await changed(db, request, counted).where('status', 'is', null).execute();
    },
    async requestsBelow({ tenant, by, key }, wanted) {
      checkIdentifiers({ tenant, by, key });
      const values = { tenant, by, key, end: `${key}~` };
      const order = `order by at, key limit ${BELOW_MAX}`;
      if (typeof wanted === 'object') {
        const own = { own: wanted.takenBy, settled: `=${wanted.takenBy}` };
        return rowsOf(db, `${BELOW} and body in (@own, @settled) ${order}`, { ...values, ...own });
      }
      const unsettled = wanted === 'all' ? '' : "and coalesce(body, '') not like '=%'";
      return rowsOf(db, `${BELOW} ${unsettled} ${order}`, values);
    },
    async markRequest({ tenant, by, key, from }, to) {
      checkIdentifiers({ tenant, by, key });
      return (await change(db, MARK, { tenant, by, key, from: from ?? '', to })) === 1;
    },
  };
}

function changed(db: Db, { tenant, by, key }: RequestName, to: Partial<KeptAnswer>) {
  checkIdentifiers({ tenant, by, key });
  return db
    .updateTable('desk_requests')
    .set(to)
    .where('tenant', '=', tenant)
    .where('by_whom', '=', by)
    .where('key', '=', key);
}

async function take(tx: Db, request: DeskRequest): Promise<TakenRequest> {
  const { tenant, by, key, digest, at } = request;
  const known = await tx
    .selectFrom('desk_requests')
    .select(['digest', 'at', 'status', 'body'])
    .where('tenant', '=', tenant)
    .where('by_whom', '=', by)
    .where('key', '=', key)
    .executeTakeFirst();
  if (known === undefined) {
    await tx
      .insertInto('desk_requests')
      .values({ tenant, by_whom: by, key, digest, at, status: null, body: null })
      .execute();
    return { kind: 'open', at, refusals: 0 };
  }
  const { status, body } = known;
  if (known.digest !== digest) return { kind: 'other', digest: known.digest, at: known.at };
  return status === null
    ? { kind: 'open', at: known.at, refusals: Number(body ?? 0) }
    : { kind: 'answered', status, body: body ?? 'null' };
}
