/** A list of what began, newest first: its filters, its table, what follows. */
import type { ComponentChildren, VNode } from 'preact';
import { Button } from './button.js';
import { dateTime, exactTime, words } from './format.js';
import { InertLine } from './inert.js';
import { StatusBadge } from './status-badge.js';
import { TableHead } from './table-head.js';
import { useTick } from './use-tick.js';

const REDRAW_MS = 30_000;

export interface ListPageProps {
  readonly title: string;
  readonly tenant: string;
  readonly filters: VNode;
  readonly columns: readonly string[];
  /** Drawn anew now and then: times are relative to now. */
  readonly rows: () => readonly VNode[];
  /** What is said where there is no row. */
  readonly none: VNode;
  readonly isFetched: boolean;
  /** Absent: there are none. */
  readonly older?: { readonly label: string; readonly fetch: () => Promise<void> } | undefined;
}

export function ListPage({ title, tenant, filters, none, isFetched, ...more }: ListPageProps) {
  const { columns, older } = more;
  // What is relative to now changes with the time, but not every second.
  useTick(REDRAW_MS);
  const rows = more.rows();
  return (
    <section class="runs" aria-label={title}>
      <header class="page-head">
        <h1>{title}</h1>
        <p class="help">
          Tenant <InertLine text={tenant} />
        </p>
      </header>
      {filters}
      <table class="panel run-table" hidden={rows.length === 0}>
        <TableHead columns={columns} />
        <tbody>{rows}</tbody>
      </table>
      <div class="list-end">
        {isFetched && rows.length === 0 && <div class="empty quiet">{none}</div>}
        {older !== undefined && <Button label={older.label} press={older.fetch} />}
      </div>
    </section>
  );
}

interface ListRowProps {
  readonly status: string;
  readonly why: string | undefined;
  readonly href: string;
  readonly id: string;
  readonly idMax: number;
  /** What is wanted. */
  readonly about: string;
  readonly agent: string;
  /** ms since epoch. */
  readonly startedAt: number;
  /** The cells that differ. */
  readonly children: ComponentChildren;
}

export function ListRow({ status, why, href, id, idMax, ...more }: ListRowProps): VNode {
  const { about, agent, startedAt, children } = more;
  return (
    <tr>
      <td>
        <StatusBadge status={status} />
        {why !== undefined && <span class="stop-reason">{words(why)}</span>}
      </td>
      <td class="run-cell">
        <a href={href}>
          <InertLine text={id} max={idMax} />
        </a>
        <span class="run-goal">
          <InertLine text={about} max={140} />
        </span>
      </td>
      <td>
        <InertLine text={agent} max={60} />
      </td>
      <td>
        <time title={exactTime(startedAt)}>{dateTime(startedAt)}</time>
      </td>
      {children}
    </tr>
  );
}
