/**
 * Finished model replies by `(run, call, request digest)`, so that a finished reply is never paid twice.
 * Outcomes of hooks lie beside them under call 0, each with its effect in place of a digest.
 * Invariant: the first writer wins; every caller goes on with the winner's reply.
 */
import { HoldfastError } from '../core/state/errors.js';
import type { Json } from '../core/json/json.js';
import { checkIdentifiers } from './bounds.js';
import { change, rowsOf, type Db } from './database.js';
import type { ReplyTable } from './schema.js';

/** Largest stored reply, as JSON, in characters; its texts lie in the blob store. */
export const REPLY_CHARS_MAX = 1024 * 1024;

export interface ReplyKey {
  readonly tenant: string;
  readonly runId: string;
  /** Number of the logical model call. */
  readonly call: number;
  readonly requestDigest: string;
}

export interface Replies {
  /** Gives the reply that is stored: this one, or an earlier one. Errors: `InvalidRequest` when too large. */
  putReply(reply: ReplyKey & { readonly output: Json }): Promise<Json>;
  getReply(key: ReplyKey): Promise<Json | undefined>;
}

const INSERT = `
  insert into replies (tenant, run_id, call, request_digest, output_json)
  values (@tenant, @runId, @call, @requestDigest, @json)
  on conflict do nothing`;

const SELECT = `
  select output_json from replies
  where tenant = @tenant and run_id = @runId and call = @call and request_digest = @requestDigest`;

export function replies(db: Db): Replies {
  return {
    async putReply({ output, ...key }) {
      const { tenant, runId, call, requestDigest } = key;
      checkIdentifiers({ tenant, runId, requestDigest });
      const json = JSON.stringify(output);
      if (json.length > REPLY_CHARS_MAX) throw tooLarge(json.length);
      const values = { tenant, runId, call, requestDigest, json };
      if ((await change(db, INSERT, values)) > 0) return output;
      return (await readReply(db, key)) ?? output;
    },
    getReply: (key) => readReply(db, key),
  };
}

async function readReply(db: Db, key: ReplyKey): Promise<Json | undefined> {
  const { tenant, runId, call, requestDigest } = key;
  checkIdentifiers({ tenant, runId, requestDigest });
  const values = { tenant, runId, call, requestDigest };
  const [row] = await rowsOf<Pick<ReplyTable, 'output_json'>>(db, SELECT, values);
  return row === undefined ? undefined : (JSON.parse(row.output_json) as Json);
}

function tooLarge(chars: number): HoldfastError {
  return new HoldfastError('InvalidRequest', `A reply of ${chars} characters is too large.`, {
    hint: 'Put its texts into the blob store and keep references.',
  });
}
