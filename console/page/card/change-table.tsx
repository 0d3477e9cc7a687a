/** Values before and after somebody corrected them, side by side. */
import type { ComponentChildren, VNode } from 'preact';
import type { Json } from '../data/api-types.js';
import type { Change } from '../parts/changes.js';
import { InertLine } from '../parts/inert.js';
import { textOfJson } from '../parts/json-value.js';
import { Readable } from '../parts/readable.js';
import { TableHead } from '../parts/table-head.js';

export interface ChangeTableProps {
  readonly changes: readonly Change[];
  readonly runId: string;
  readonly columns: readonly string[];
  /** What people read in place of a value, such as an amount with its currency; the value stands beside it. */
  readonly shown?: (change: Change) => { readonly before?: string; readonly after?: string };
}

export function ChangeTable({ changes, runId, columns, shown }: ChangeTableProps): VNode {
  return (
    <table class="changes">
      <TableHead columns={columns} />
      <tbody>
        {changes.map((change) => {
          const { path, before, after } = change;
          const texts = shown?.(change) ?? {};
          return (
            <tr key={path}>
              <th scope="row">
                <InertLine text={path} max={100} />
              </th>
              <td>
                <del>
                  <Value value={before} runId={runId} text={texts.before} />
                </del>
              </td>
              <td>
                <ins>
                  <Value value={after} runId={runId} text={texts.after} />
                </ins>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface ValueProps {
  readonly value: Json | undefined;
  readonly runId: string;
  readonly text: string | undefined;
}

function Value({ value, runId, text }: ValueProps): ComponentChildren {
  if (value === undefined) return <span class="none">nothing</span>;
  const exact = <Readable value={value} runId={runId} />;
  if (text === undefined || text === textOfJson(value)) return exact;
  return (
    <>
      <InertLine text={text} max={100} /> <span class="argument-name">({exact})</span>
    </>
  );
}
