/** What was proposed before somebody corrected it. */
import type { VNode } from 'preact';
import type { Ask, Grounds, Json } from '../data/api-types.js';
import { amountsOf } from '../parts/amount-words.js';
import { changesBetween } from '../parts/changes.js';
import { dateTime } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { Names } from '../parts/names.js';
import { ChangeTable } from './change-table.js';

const COLUMNS = ['Field', 'Proposed', 'Now'];

export interface CorrectionProps {
  readonly ask: Ask;
  readonly corrections: Grounds['corrections'];
}

export function Correction({ ask, corrections }: CorrectionProps): VNode | null {
  const original = corrections[0]?.original;
  const last = corrections.at(-1);
  if (original === undefined || last === undefined) return null;
  const card = original.tool === ask.tool ? ask.card : undefined;
  const changes = changesBetween(original.args as Json, ask.args as Json);
  return (
    <section class="corrected">
      <h3>Corrected</h3>
      <p>
        By <Names names={last.by} />
        {`, ${dateTime(last.at)}. Earlier approvals do not count for it.`}
      </p>
      {last.reason !== undefined && (
        <p>
          Reason: <InertLine text={last.reason} max={500} />
        </p>
      )}
      {original.tool !== ask.tool && (
        <p>
          {'Proposed was another tool: '}
          <del>
            <InertLine text={original.tool} />
          </del>
        </p>
      )}
      <ChangeTable
        changes={changes}
        runId={ask.runId}
        columns={COLUMNS}
        shown={(change) => amountsOf(card, { before: original.args, after: ask.args }, change)}
      />
    </section>
  );
}
