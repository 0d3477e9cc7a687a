/**
 * Messages of users that runs have heard, by what their senders call them.
 * Invariant: a row stands for an event `user_message` that counts; it is written, and taken back, with the event.
 */
import type { RunEvent } from '../core/state/event.js';
import type { RunKey } from './ask-projection.js';
import { checkIdentifiers, wellFormed } from './bounds.js';
import { change, rowsOf, type Db } from './database.js';
import type { UserMessageTable } from './user-message-table.js';

export interface HeardMessage {
  readonly runId: string;
  readonly seq: number;
  readonly messageId: string;
}

export interface UserMessages {
  /**
   * Where a message of this name was heard, by run and then the newest last; senders choose the names, so other runs may
   * know it too. `below`: in runs whose ids begin so.
   */
  messagesNamed(
    tenant: string,
    clientMessageId: string,
    below?: string,
  ): Promise<readonly HeardMessage[]>;
  /** All that the run has heard, the newest ones where they are too many. */
  messagesHeardBy(tenant: string, runId: string): Promise<readonly HeardMessage[]>;
  /** The newest that the run has heard, up to an event. */
  lastMessageOf(tenant: string, runId: string, upTo?: number): Promise<HeardMessage | undefined>;
}

const NAMED_MAX = 100;
const HEARD_MAX = 2_000;

const NAMED = `
  select run_id, seq, message_id from user_messages
  where tenant = @tenant and client_message_id = @name
  order by run_id, seq limit ${NAMED_MAX}`;

/** Names of chats have no character that comes after `~`. */
const NAMED_BELOW = `
  select run_id, seq, message_id from user_messages
  where tenant = @tenant and client_message_id = @name and run_id >= @below and run_id < @end
  order by run_id, seq limit ${NAMED_MAX}`;

const HEARD = `
  select run_id, seq, message_id from user_messages
  where tenant = @tenant and run_id = @runId order by seq desc limit ${HEARD_MAX}`;

const LAST = `
  select run_id, seq, message_id from user_messages
  where tenant = @tenant and run_id = @runId and seq <= @upTo order by seq desc limit 1`;

const INSERT = `
  insert into user_messages (tenant, run_id, seq, message_id, client_message_id)
  values (@tenant, @runId, @seq, @messageId, @name)
  on conflict (tenant, run_id, seq) do update set
    message_id = excluded.message_id, client_message_id = excluded.client_message_id`;

const FORGET = `delete from user_messages where tenant = @tenant and run_id = @runId and seq >= @from`;

type Row = Pick<UserMessageTable, 'run_id' | 'seq' | 'message_id'>;

export function userMessages(db: Db): UserMessages {
  return {
    async messagesNamed(tenant, name, below) {
      checkIdentifiers({ tenant, name });
      if (below === undefined) return (await rowsOf<Row>(db, NAMED, { tenant, name })).map(heard);
      checkIdentifiers({ below });
      const values = { tenant, name, below, end: `${below}~` };
      return (await rowsOf<Row>(db, NAMED_BELOW, values)).map(heard);
    },
    async messagesHeardBy(tenant, runId) {
      checkIdentifiers({ tenant, runId });
      return (await rowsOf<Row>(db, HEARD, { tenant, runId })).map(heard).reverse();
    },
    async lastMessageOf(tenant, runId, upTo = Number.MAX_SAFE_INTEGER) {
      checkIdentifiers({ tenant, runId });
      return (await rowsOf<Row>(db, LAST, { tenant, runId, upTo })).map(heard)[0];
    },
  };
}

function heard({ run_id: runId, seq, message_id: messageId }: Row): HeardMessage {
  return { runId, seq, messageId };
}

interface Fresh {
  readonly events: readonly RunEvent[];
  /** Events from this seq on were superseded before these came. */
  readonly resetFrom?: number;
}

export async function noteMessages(tx: Db, { tenant, runId }: RunKey, fresh: Fresh): Promise<void> {
  if (fresh.resetFrom !== undefined) {
    await change(tx, FORGET, { tenant, runId, from: fresh.resetFrom });
  }
  for (const event of fresh.events) {
    // Letters of other runs are none of the user.
    if (event.type !== 'user_message' || event.from !== undefined) continue;
    const { messageId, clientMessageId, stamp } = event;
    const name = clientMessageId === undefined ? null : wellFormed(clientMessageId);
    await change(tx, INSERT, { tenant, runId, seq: stamp.seq, messageId, name });
  }
}
