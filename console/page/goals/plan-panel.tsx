/** The plan with the evidence behind each step, what was published, and notes. */
import type { ComponentProps, VNode } from 'preact';
import type { GoalRecord, PlanStep } from '../data/api-types.js';
import { words } from '../parts/format.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { Readable } from '../parts/readable.js';
import { TableHead } from '../parts/table-head.js';
import { EvidenceLinks } from './evidence-links.js';
import { PlanEditor } from './plan-editor.js';

const COLUMNS = ['Step', 'State', 'By', 'Evidence'];
const PUBLISHED = ['Path', 'Value', 'Cycle'];
const NOTES_SHOWN = 50;

interface PlanPanelProps {
  readonly goalId: string;
  readonly record: GoalRecord | undefined;
  /** Absent: this person does not change the plan. */
  readonly editing?: Pick<ComponentProps<typeof PlanEditor>, 'isOver' | 'changed'> | undefined;
}

export function PlanPanel({ goalId, record, editing }: PlanPanelProps): VNode {
  if (record === undefined) return <p class="help">Nothing is remembered yet.</p>;
  const { plan, state, notes } = record;
  const published = Object.entries(state);
  return (
    <div class="goal-panel">
      <p class="help">{`Revision ${plan.revision} of the plan.`}</p>
      {plan.steps.length === 0 ? (
        <p class="help">The plan has no step yet.</p>
      ) : (
        <table class="panel goal-table">
          <TableHead columns={COLUMNS} />
          <tbody>
            {plan.steps.map((step) => (
              <Step key={step.id} step={step} goalId={goalId} />
            ))}
          </tbody>
        </table>
      )}
      {editing !== undefined && <PlanEditor goalId={goalId} plan={plan} {...editing} />}
      {published.length > 0 && (
        <>
          <h2>Published</h2>
          <table class="panel goal-table">
            <TableHead columns={PUBLISHED} />
            <tbody>
              {published.map(([path, { value, cycle }]) => (
                <tr key={path}>
                  <th scope="row">
                    <InertLine text={path} max={100} />
                  </th>
                  <td>
                    <Readable value={value} runId={goalId} depth={1} />
                  </td>
                  <td class="figure">{cycle}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      {notes.length > 0 && <Notes goalId={goalId} notes={notes} />}
    </div>
  );
}

interface NotesProps {
  readonly goalId: string;
  readonly notes: GoalRecord['notes'];
}

function Notes({ goalId, notes }: NotesProps): VNode {
  return (
    <>
      <h2>Notes</h2>
      <p class="help">
        Words of agents, which nobody has checked.
        {notes.length > NOTES_SHOWN && ` The newest ${NOTES_SHOWN} of ${notes.length}.`}
      </p>
      <ol class="goal-log">
        {notes.slice(-NOTES_SHOWN).map((note, place) => (
          <li key={place}>
            <span class="badge untrusted">{`cycle ${note.cycle}`}</span>{' '}
            <InertLine text={note.by} max={80} />
            {note.superseded === true && <span class="help"> came too late to count</span>}
            <InertBlock text={note.text} />
            <EvidenceLinks goalId={goalId} ids={note.evidence} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Step({ step, goalId }: { readonly step: PlanStep; readonly goalId: string }): VNode {
  const { id, title, status, note, by, evidence, byPerson } = step;
  return (
    <tr>
      <th scope="row">
        <InertLine text={title} max={200} />
        <span class="run-goal">
          <InertLine text={id} max={64} />
        </span>
        {note !== undefined && (
          <span class="run-goal">
            <InertLine text={note} max={500} />
          </span>
        )}
      </th>
      <td>
        <span class={`badge ${status === 'done' ? 'completed' : status}`}>{words(status)}</span>
      </td>
      <td>
        <InertLine text={by} max={80} />
        {byPerson === true && <span class="help"> (a person)</span>}
      </td>
      <td>
        <EvidenceLinks goalId={goalId} ids={evidence} />
        {status === 'done' && (evidence ?? []).length === 0 && <span class="none">none</span>}
      </td>
    </tr>
  );
}
