/** The names of the columns of a table. */
import type { VNode } from 'preact';

export function TableHead({ columns }: { readonly columns: readonly string[] }): VNode {
  return (
    <thead>
      <tr>
        {columns.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
