/**
 * Letters between the runs of one tree.
 * Invariants: letters of a recipient are numbered from 1 without a gap, in the order in which they were written; a letter is
 * written once under the key of the call that sends it; a mailbox is bounded.
 */
import { jsonBytes } from '../core/json/json.js';
import { MAIL_LIMITS, type Letter, type Sender } from '../core/state/mail.js';
import { checkIdentifiers, checkWholeNumbers, listLimit, wellFormed } from './bounds.js';
import { change, holdRun, immediate, rowsOf, type Db } from './database.js';
import type { LetterTable } from './schema.js';

export interface Mailing {
  readonly tenant: string;
  /** Run id of the recipient. */
  readonly to: string;
  readonly from: Sender;
  /** Idempotency key of the sender's call. */
  readonly key: string;
  readonly text: string;
  /** ms since epoch. */
  readonly at: number;
}

/** 'same': it was written before; 'other': the key has another letter; 'full': too many unread; 'used_up': too many in all. */
export type Mailed = 'written' | 'same' | 'other' | 'full' | 'used_up';

export interface MailQuery {
  /** Number of the newest letter that the recipient has taken. */
  readonly after: number;
  readonly limit: number;
}

export interface Mail {
  writeLetter(mailing: Mailing): Promise<Mailed>;
  /** The letters behind `after`, in order, of 16 KiB or one letter; from then on they count as read. */
  readLetters(tenant: string, to: string, query: MailQuery): Promise<MailBatch>;
}

export interface MailBatch {
  readonly letters: readonly Letter[];
  /** There may be others behind them. */
  readonly more: boolean;
}

const BY_KEY = `select * from letters where tenant = @tenant and from_run = @from and key = @key`;

const COUNT = `
  select count(*) as all_rows, coalesce(max(seq), 0) as newest,
    coalesce(sum(case when is_read = 0 then 1 else 0 end), 0) as unread
  from letters where tenant = @tenant and to_run = @to`;

const INSERT = `
  insert into letters (tenant, to_run, seq, from_run, from_agent, key, body, written_at, is_read)
  values (@tenant, @to, @seq, @from, @agent, @key, @text, @at, 0)`;

const LIST = `
  select * from letters where tenant = @tenant and to_run = @to and seq > @after
  order by seq limit @limit`;

const READ = `
  update letters set is_read = 1 where tenant = @tenant and to_run = @to and seq <= @upTo and is_read = 0`;

interface Counted {
  readonly all_rows: number;
  readonly newest: number;
  readonly unread: number;
}

export function mail(db: Db): Mail {
  return {
    async writeLetter({ tenant, to, from, key, text: given, at }) {
      checkIdentifiers({ tenant, to, from: from.run });
      const text = wellFormed(given);
      return immediate(db, async (tx) => {
        // One at a time is numbered.
        await holdRun(tx, { tenant, runId: to });
        const [known] = await rowsOf<LetterTable>(tx, BY_KEY, { tenant, from: from.run, key });
        if (known !== undefined)
          return known.to_run === to && known.body === text ? 'same' : 'other';
        const [counted] = await rowsOf<Counted>(tx, COUNT, { tenant, to });
        if (Number(counted?.unread ?? 0) >= MAIL_LIMITS.unread) return 'full';
        if (Number(counted?.all_rows ?? 0) >= MAIL_LIMITS.inAll) return 'used_up';
        const seq = Number(counted?.newest ?? 0) + 1;
        await change(tx, INSERT, {
          tenant,
          to,
          seq,
          from: from.run,
          agent: wellFormed(from.agent),
          key,
          text,
          at,
        });
        return 'written';
      });
    },
    async readLetters(tenant, to, { after, limit }) {
      checkIdentifiers({ tenant, to });
      checkWholeNumbers({ after });
      const values = { tenant, to, after, limit: listLimit(limit) };
      const rows = await rowsOf<LetterTable>(db, LIST, values);
      const all = rows.map(letterOf);
      const letters = fitting(all);
      const upTo = letters.at(-1)?.seq;
      if (upTo !== undefined) await change(db, READ, { tenant, to, upTo });
      const more = letters.length < all.length || all.length === values.limit;
      return { letters, more };
    },
  };
}

function letterOf({ seq, from_run: run, from_agent: agent, body: text }: LetterTable): Letter {
  return { seq, from: { run, agent }, text };
}

/** The first ones that a payload has room for; at least one, so that no letter blocks the others. */
function fitting(letters: readonly Letter[]): readonly Letter[] {
  let bytes = 0;
  return letters.filter((letter, index) => {
    bytes += jsonBytes(letter);
    return index === 0 || bytes <= MAIL_LIMITS.bytesAtOnce;
  });
}
