/** What a standing grant allows, in words: for whoever is about to give one, and for whoever looks at a run. */
import type { ComponentChildren, VNode } from 'preact';
import type { GrantCondition, Json } from '../data/api-types.js';
import { highlightsOf } from './highlights.js';
import { InertLine } from './inert.js';

interface ConditionsProps {
  /** What must hold of a call's arguments. */
  readonly when: readonly GrantCondition[];
}

export function ConditionList({ when }: ConditionsProps): VNode {
  const currency = when.find(({ path }) => path === 'currency')?.equals;
  const unit: { readonly [path: string]: Json } = typeof currency === 'string' ? { currency } : {};
  return (
    <ul class="conditions">
      {when.map((condition) => (
        <li key={condition.path}>
          <b>
            <InertLine text={condition.path} max={100} />
          </b>{' '}
          {conditionWords(condition)}
          {amountShown(condition, unit)}
        </li>
      ))}
    </ul>
  );
}

/** An amount as people write it, where the condition has it otherwise. */
function amountShown(
  { path, equals, lte }: GrantCondition,
  unit: { readonly [path: string]: Json },
): ComponentChildren {
  const bound = equals ?? lte;
  if (typeof bound !== 'number') return null;
  const [amount] = highlightsOf({ ...unit, [path]: bound }).amounts;
  if (amount === undefined || amount.value === String(bound)) return null;
  return (
    <>
      {' ('}
      <InertLine text={amount.value} max={60} />)
    </>
  );
}

function conditionWords({ equals, lte, gte, exists }: GrantCondition): ComponentChildren {
  const parts: ComponentChildren[] = [];
  if (equals !== undefined) parts.push(<>is exactly {valueShown(equals)}</>);
  if (gte !== undefined) parts.push(<>is at least {valueShown(gte)}</>);
  if (lte !== undefined) parts.push(<>is at most {valueShown(lte)}</>);
  if (exists !== undefined) parts.push(exists ? 'is given' : 'is not given');
  return parts.map((part, place) => (
    <>
      {place > 0 && ' and '}
      {part}
    </>
  ));
}

function valueShown(value: unknown): VNode {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (
    <span class="condition-value">
      <InertLine text={text} />
    </span>
  );
}
