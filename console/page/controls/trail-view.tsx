/** The audit trail: who saw, who decided, what was done on whose word; the newest rows first. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { get, isRefusal, wordsOf } from '../data/api.js';
import type { AuditRow, Person } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { Exact } from '../parts/folded.js';
import { dateTime, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { oneLine } from '../parts/json-value.js';
import { inboxPath, runPath } from '../parts/paths.js';
import { TableHead } from '../parts/table-head.js';
import { useTitle } from '../parts/use-title.js';
import { readRows, type Head } from './read-trail.js';
import { VerifyTrail } from './verify-trail.js';

const PAGE_ROWS = 100;
const COLUMNS = ['Row', 'When', 'Event', 'Who', 'About'];

export function TrailView({ me }: { readonly me: Person }): VNode {
  useTitle('Audit trail');
  const { rows, isWhole, fault, older } = useTrail();
  return (
    <section class="controls-view" aria-label="Audit trail">
      <header class="page-head">
        <h1>Audit trail</h1>
        <p class="help">
          Tenant <InertLine text={me.tenant} />, the newest rows first
        </p>
      </header>
      <p class="fault" role="alert">
        {fault}
      </p>
      <VerifyTrail tenant={me.tenant} />
      <table class="panel trail" hidden={rows.length === 0}>
        <TableHead columns={COLUMNS} />
        <tbody>
          {rows.map((row) => (
            <TrailRow key={row.seq} row={row} />
          ))}
        </tbody>
      </table>
      {!isWhole && rows.length > 0 && <Button label="Show older rows" press={older} />}
    </section>
  );
}

interface Trail {
  readonly rows: readonly AuditRow[];
  readonly isWhole: boolean;
  readonly fault: string;
  readonly older: () => Promise<void>;
}

function useTrail(): Trail {
  const [rows, setRows] = useState<readonly AuditRow[]>([]);
  const [fault, setFault] = useState('');
  const oldest = rows.at(-1)?.seq;
  const read = async (before: number, signal?: AbortSignal): Promise<void> => {
    const after = Math.max(0, before - 1 - PAGE_ROWS);
    const found = await readRows({ after, limit: before - 1 - after }, signal);
    setRows((known) => [...known, ...[...found].reverse()]);
  };
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    get<Head>('/v1/audit/head', signal)
      // A desk whose key does not count signs no head; its rows are read all the same.
      .catch((error: unknown) =>
        isRefusal(error) && error.status === 409 ? undefined : fail(error),
      )
      .then((head) => (head === undefined ? firstRows(signal) : read(head.seq + 1, signal)))
      .catch((error: unknown) => signal.aborted || setFault(wordsOf(error)));
    return () => leaving.abort();
  }, []);
  const firstRows = async (signal: AbortSignal): Promise<void> => {
    setRows([...(await readRows({ after: 0, limit: PAGE_ROWS }, signal))].reverse());
  };
  return {
    rows,
    isWhole: oldest === undefined || oldest <= 1,
    fault,
    older: async () => {
      await read(oldest ?? 1).catch((error: unknown) => setFault(wordsOf(error)));
    },
  };
}

function fail(error: unknown): never {
  throw error;
}

function TrailRow({ row }: { readonly row: AuditRow }): VNode {
  const { seq, at, kind, by, runId, askId, facts } = row;
  return (
    <tr>
      <td>{seq}</td>
      <td>
        <time>{dateTime(at)}</time>
      </td>
      <td>{words(kind)}</td>
      <td>{by === undefined ? '' : <InertLine text={by} max={80} />}</td>
      <td>
        {askId !== undefined ? (
          <a href={inboxPath(askId)}>
            <InertLine text={askId} max={80} />
          </a>
        ) : (
          runId !== undefined && (
            <a href={runPath(runId)}>
              <InertLine text={runId} max={80} />
            </a>
          )
        )}
        <span class="help trail-facts">
          <InertLine text={oneLine(facts)} max={160} />
        </span>
        <Exact title="The row" value={row} />
      </td>
    </tr>
  );
}
