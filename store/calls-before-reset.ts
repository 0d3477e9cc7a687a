/**
 * Calls that a run made before it was reset, and that its conversation no longer has (G109).
 * Invariant: a call that may have taken effect is left out only when the run's own line of events has its start: it is
 * the conversation's own then, and whoever repeats it does so knowingly.
 */
import type { EarlierEffect } from '../core/controls/repeats.js';
import { callDigest } from '../core/json/json.js';
import type { RunEvent } from '../core/state/event.js';
import { checkIdentifiers } from './bounds.js';
import { rowsOf, type Db } from './database.js';
import { TOLD } from './fork-family.js';
import type { EventTable, LedgerTable } from './schema.js';

/** Calls with the same arguments that are looked at. */
const CALLS_MAX = 100;
/** Events that name one of their keys. */
const EVENTS_MAX = 50;

export interface BeforeResetQuery {
  readonly tenant: string;
  readonly runId: string;
  /** Temporal run id of the execution that is about to make the call. */
  readonly execution: string;
  /** The call's own key. */
  readonly key: string;
  readonly tool: string;
  readonly toolVersion: string;
  readonly argsDigest: string;
  readonly limit: number;
}

export interface CallsBeforeReset {
  /**
   * Calls of this tool with these arguments that the run made under other keys, that may have taken effect, and that
   * its conversation does not have; newest first.
   */
  callsBeforeReset(query: BeforeResetQuery): Promise<readonly EarlierEffect[]>;
}

export function callsBeforeReset(db: Db): CallsBeforeReset {
  return {
    async callsBeforeReset(query) {
      const { tenant, runId, execution, key, tool, toolVersion, argsDigest } = query;
      checkIdentifiers({ tenant, runId, execution, key, tool, toolVersion, argsDigest });
      const line = await lineOf(db, query);
      if (line === 'never reset') return [];
      const found: EarlierEffect[] = [];
      for (const row of await candidates(db, query)) {
        if (found.length >= query.limit) break;
        const starts = await startsOf(db, query, row.key);
        const isOwn = line === 'told' && starts.some(({ superseded }) => superseded === 0);
        if (!isOwn) found.push(earlierOf(query, row, starts));
      }
      return found;
    },
  };
}

const LINE = `
  select
    (select execution from executions where tenant = @tenant and run_id = @runId
      order by rank desc limit 1) as newest,
    (select max(epoch) from resets where tenant = @tenant and run_id = @runId) as epoch`;

/** 'untold': this execution has stored no event yet, so that the line may still be the one before its reset. */
async function lineOf(
  db: Db,
  { tenant, runId, execution }: BeforeResetQuery,
): Promise<'never reset' | 'told' | 'untold'> {
  const [line] = await rowsOf<{ newest: string | null; epoch: number | null }>(db, LINE, {
    tenant,
    runId,
  });
  const newest = line?.newest ?? null;
  if (newest === null) return 'never reset';
  if (newest !== execution) return 'untold';
  return (line?.epoch ?? null) === null ? 'never reset' : 'told';
}

// What was claimed and taken away since may have happened, unless the tool itself said no. Of a call that a fork was told of
// its family knows.
const CANDIDATES = `
  select key, state, claimed_until from ledger
  where tenant = @tenant and run_id = @runId and tool = @tool and args_digest = @argsDigest
    and key <> @key and not ${TOLD}
    and (state in ('claimed', 'recorded') or (state = 'void' and was_claimed = 1 and definite = 0))
  order by claimed_until desc, key limit @limit`;

type Candidate = Pick<LedgerTable, 'key' | 'state' | 'claimed_until'>;

function candidates(
  db: Db,
  { tenant, runId, tool, argsDigest, key }: BeforeResetQuery,
): Promise<readonly Candidate[]> {
  const values = { tenant, runId, tool, argsDigest, key, limit: CALLS_MAX };
  return rowsOf<Candidate>(db, CANDIDATES, values);
}

const NAMING = `
  select at, superseded, body from events
  where tenant = @tenant and run_id = @runId and body like @pattern escape '!'
  order by seq desc limit @limit`;

type Naming = Pick<EventTable, 'at' | 'superseded' | 'body'>;

/** Events that tell of the start of this very call. */
async function startsOf(
  db: Db,
  { tenant, runId, tool, toolVersion, argsDigest }: BeforeResetQuery,
  key: string,
): Promise<readonly Naming[]> {
  const named = `"key":${JSON.stringify(key)}`.replaceAll(/[!%_]/g, '!$&');
  const values = { tenant, runId, pattern: `%${named}%`, limit: EVENTS_MAX };
  const rows = await rowsOf<Naming>(db, NAMING, values);
  return rows.filter(({ body }) => {
    const event = JSON.parse(body) as RunEvent;
    return (
      event.type === 'tool_started' &&
      event.key === key &&
      event.tool === tool &&
      callDigest({ tool, toolVersion, args: event.args }) === argsDigest
    );
  });
}

const STATES: { readonly [state: string]: EarlierEffect['state'] } = {
  claimed: 'under_way',
  recorded: 'done',
};

function earlierOf(
  { runId, tool }: BeforeResetQuery,
  { key, state, claimed_until: until }: Candidate,
  starts: readonly Naming[],
): EarlierEffect {
  const at = starts[0]?.at ?? until;
  return { key, runId, tool, at, state: STATES[state] ?? 'in_doubt', approvedBy: [] };
}
