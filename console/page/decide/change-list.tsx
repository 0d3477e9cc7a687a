/** What somebody is about to change, place by place. */
import type { ComponentChildren, VNode } from 'preact';
import type { Json } from '../data/api-types.js';
import { changesBetween } from '../parts/changes.js';
import { InertLine } from '../parts/inert.js';

export interface ChangeListProps {
  readonly before: Json;
  readonly after: Json | undefined;
}

export function ChangeList({ before, after }: ChangeListProps): VNode | null {
  const changes = changesBetween(before, after);
  if (changes.length === 0) return null;
  return (
    <ul class="change-list" aria-label="Changes">
      {changes.map(({ path, before: was, after: is }) => (
        <li key={path}>
          <b>
            <InertLine text={path} max={80} />
          </b>{' '}
          <del>{shown(was)}</del> → <ins>{shown(is)}</ins>
        </li>
      ))}
    </ul>
  );
}

function shown(value: Json | undefined): ComponentChildren {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return <InertLine text={text} max={100} />;
}
