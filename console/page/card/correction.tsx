/** What was proposed before somebody corrected it. */
import type { ComponentChildren, VNode } from 'preact';
import type { Ask, Grounds, Json } from '../data/api-types.js';
import { changesBetween, type Change } from '../parts/changes.js';
import { dateTime } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { Names } from '../parts/names.js';
import { Readable } from '../parts/readable.js';

const COLUMNS = ['Field', 'Proposed', 'Now'];

export interface CorrectionProps {
  readonly ask: Ask;
  readonly corrections: Grounds['corrections'];
}

export function Correction({ ask, corrections }: CorrectionProps): VNode | null {
  const original = corrections[0]?.original;
  const last = corrections.at(-1);
  if (original === undefined || last === undefined) return null;
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
      <table class="changes">
        <thead>
          <tr>
            {COLUMNS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <ChangeRow key={change.path} change={change} runId={ask.runId} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface ChangeRowProps {
  readonly change: Change;
  readonly runId: string;
}

function ChangeRow({ change: { path, before, after }, runId }: ChangeRowProps): VNode {
  const shown = (value: Json | undefined): ComponentChildren =>
    value === undefined ? (
      <span class="none">nothing</span>
    ) : (
      <Readable value={value} runId={runId} />
    );
  return (
    <tr>
      <th scope="row">
        <InertLine text={path} max={100} />
      </th>
      <td>
        <del>{shown(before)}</del>
      </td>
      <td>
        <ins>{shown(after)}</ins>
      </td>
    </tr>
  );
}
