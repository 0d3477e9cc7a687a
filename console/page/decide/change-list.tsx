/** What somebody is about to change, place by place. */
import type { ComponentChildren, VNode } from 'preact';
import { labelOf } from '../../../pure/headline.js';
import type { Ask, Json } from '../data/api-types.js';
import { amountsOf } from '../parts/amount-words.js';
import { changesBetween } from '../parts/changes.js';
import { InertLine } from '../parts/inert.js';

export interface ChangeListProps {
  readonly before: Json;
  readonly after: Json | undefined;
  /** Of the tool that both are for. */
  readonly card: Ask['card'];
}

export function ChangeList({ before, after, card }: ChangeListProps): VNode | null {
  const changes = changesBetween(before, after);
  if (changes.length === 0) return null;
  return (
    <ul class="change-list" aria-label="Changes">
      {changes.map((change) => {
        const { path, before: was, after: is } = change;
        const texts = amountsOf(card, { before, after }, change);
        return (
          <li key={path}>
            <b>
              <InertLine text={labelOf(card, path)} max={80} />
            </b>{' '}
            <del>{shown(was, texts.before)}</del> → <ins>{shown(is, texts.after)}</ins>
          </li>
        );
      })}
    </ul>
  );
}

function shown(value: Json | undefined, amount: string | undefined): ComponentChildren {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const exact = amount === undefined || amount === text ? '' : ` (${text})`;
  return <InertLine text={`${amount ?? text}${exact}`} max={100} />;
}
