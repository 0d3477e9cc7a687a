/** The exact arguments of an action: amounts first, then as the schema of its tool lists them. */
import type { VNode } from 'preact';
import { argumentsInOrder, type Argument } from '../../../pure/argument-order.js';
import { labelOf } from '../../../pure/headline.js';
import type { Ask, Grounds, Json, Schema } from '../data/api-types.js';
import { InertLine } from '../parts/inert.js';
import { plural } from '../parts/format.js';
import { textOfJson } from '../parts/json-value.js';
import { Readable } from '../parts/readable.js';
import { OriginLine } from './origin.js';

const ENTRIES_SHOWN = 60;

export interface ArgumentsProps {
  readonly ask: Ask;
  readonly grounds: Grounds | undefined;
}

export function Arguments({ ask, grounds }: ArgumentsProps): VNode {
  const schema = grounds?.tool?.inputSchema as Schema | undefined;
  const found = argumentsInOrder(ask.args as Json, schema);
  if (ask.kind === 'budget' || found.length === 0) {
    return <Readable value={ask.args} runId={ask.runId} />;
  }
  const hidden = found.length - ENTRIES_SHOWN;
  return (
    <>
      <dl class="fields">
        {found.slice(0, ENTRIES_SHOWN).map((argument) => (
          <Row key={argument.path} argument={argument} ask={ask} grounds={grounds} />
        ))}
      </dl>
      {hidden > 0 && (
        <p class="cut">{`${plural(hidden, 'more entry', 'more entries')}: see the exact JSON.`}</p>
      )}
    </>
  );
}

interface RowProps extends ArgumentsProps {
  readonly argument: Argument;
}

function Row({ argument: { path, value }, ask, grounds }: RowProps): VNode {
  const { card, runId } = ask;
  const label = labelOf(card, path);
  const isHeaded = path === card?.amount?.path || path === card?.recipient;
  const origin = isHeaded ? undefined : grounds?.origins.find((one) => one.path === path);
  const text = textOfJson(value);
  return (
    <div class="field">
      <dt>
        <InertLine text={label} />
        {label !== path && (
          <span class="argument-name">
            {' '}
            <InertLine text={path} />
          </span>
        )}
      </dt>
      <dd>
        <Readable value={value} runId={runId} depth={1} />
        {origin !== undefined && <OriginLine origin={origin} raw={text} shown={text} />}
      </dd>
    </div>
  );
}
