/** What a standing grant covers: how many calls, for how long, and which. */
import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { textIn } from '../parts/form.js';
import { InertLine } from '../parts/inert.js';
import { inertText } from '../parts/inert-text.js';
import { oneLine } from '../parts/json-value.js';
import { mostId, mostOf, unboundOf, widthOf, type Row, type Width } from './grant-rows.js';
import { GrantSummary } from './grant-summary.js';
import { HOUR_MS, USES_ID, type Granting } from './use-grant.js';

const TIMES: readonly (readonly [ms: number, words: string])[] = [
  [HOUR_MS / 4, '15 minutes'],
  [HOUR_MS, '1 hour'],
  [8 * HOUR_MS, '8 hours'],
  [24 * HOUR_MS, '1 day'],
  [7 * 24 * HOUR_MS, '7 days'],
];

interface GrantingProps {
  readonly granting: Granting;
}

export function GrantFields({ granting }: GrantingProps): VNode {
  const { rows, draft, read, alarm, card } = granting;
  const unbound = unboundOf(rows, draft.rows, card);
  return (
    <>
      <Extent granting={granting} />
      <fieldset class="grant-rows">
        <legend>Which calls</legend>
        {rows.map((row) => (
          <RowFields key={row.id} row={row} granting={granting} />
        ))}
      </fieldset>
      <div class="grant-words" aria-live="polite">
        {/* The conditions stand above, in their rows. */}
        {read.ok ? (
          <GrantSummary grant={read.grant} unbound={unbound} card={card} alarm={alarm} />
        ) : (
          <p class="help">{read.fault}</p>
        )}
      </div>
    </>
  );
}

function Extent({ granting: { draft, write } }: GrantingProps): VNode {
  return (
    <div class="grant-extent">
      <div class="form-field">
        <label for={USES_ID}>How many more calls</label>
        <input
          id={USES_ID}
          class="number"
          type="text"
          inputMode="numeric"
          autocomplete="off"
          value={draft.uses}
          onInput={(event) => write({ uses: textIn(event) })}
        />
      </div>
      <div class="form-field">
        <label for="grant-for">For how long</label>
        <select
          id="grant-for"
          value={String(draft.expiresInMs)}
          onChange={(event) => write({ expiresInMs: Number(textIn(event)) })}
        >
          {TIMES.map(([ms, words]) => (
            <option key={ms} value={String(ms)}>
              {words}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
}

interface RowFieldsProps extends GrantingProps {
  readonly row: Row;
}

function RowFields({ row, granting }: RowFieldsProps): VNode {
  const { id, name, widths } = row;
  const { draft, writeRow } = granting;
  const width = widthOf(row, draft.rows[id]);
  const choose = (event: Event): void => writeRow(row, { width: textIn(event) as Width });
  return (
    <div class="grant-row">
      <label for={id}>
        <InertLine text={name} max={80} />
      </label>
      <select id={id} value={width} onChange={choose}>
        {widths.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <div>
        {width === 'at most' ? (
          <MostInput row={row} granting={granting} />
        ) : (
          <span class="grant-value" hidden={width === 'anything' && widths.length > 1}>
            {valueShown(row)}
          </span>
        )}
      </div>
    </div>
  );
}

function MostInput({ row, granting: { draft, writeRow } }: RowFieldsProps): VNode {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.select(), []);
  return (
    <input
      id={mostId(row)}
      ref={input}
      type="text"
      inputMode="decimal"
      autocomplete="off"
      class="number"
      aria-label={`${inertText(row.name, 60)} at most`}
      value={mostOf(row, draft.rows[row.id])}
      onInput={(event) => writeRow(row, { most: textIn(event) })}
    />
  );
}

function valueShown({ value, widths }: Row): ComponentChildren {
  if (widths.length === 1) return 'cannot be compared: its name or its value is too long';
  if (value === undefined) return null;
  return <InertLine text={typeof value === 'string' ? value : oneLine(value)} max={120} />;
}
