/** What a question of a goal is about. All of it was computed by the goal, or stands in its memory. */
import type { VNode } from 'preact';
import type { GoalCard } from '../data/api-types.js';
import { budgetValue } from '../parts/budget-words.js';
import { Fact } from '../parts/fact.js';
import { words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { briefPath } from '../parts/paths.js';
import { TableHead } from '../parts/table-head.js';

const TITLES: { readonly [about in GoalCard['about']]: string } = {
  cycle: 'The next cycle of a goal',
  plan_change: 'A change of the plan of a goal',
  handoff: 'A handoff of a goal to another agent',
  review: 'A reviewer asks before the next step',
  budget: 'More of the budget of a goal',
  stuck: 'A goal is stuck',
  unknown: 'A judge or reviewer gives no valid answer',
  person: 'A word on whether the goal is reached',
  doubt: 'Effects of a goal are in doubt',
  other: 'A question of a goal',
};

export function goalAskTitle({ about, cycle }: GoalCard): string {
  return about === 'cycle' && cycle !== undefined ? `Cycle ${cycle} of a goal` : TITLES[about];
}

interface GoalQuestionProps {
  readonly goalId: string;
  readonly card: GoalCard;
}

export function GoalQuestion({ goalId, card }: GoalQuestionProps): VNode {
  const { objective, cycle, agent, brief, slice, plan } = card;
  return (
    <section class="goal-question">
      <h3>The question is about</h3>
      <dl class="facts">
        <Fact name="Goal">
          <InertLine text={objective} max={300} />
        </Fact>
        {cycle !== undefined && <Fact name="Cycle">{cycle}</Fact>}
        {agent !== undefined && (
          <Fact name="Agent">
            <InertLine text={agent} max={128} />
          </Fact>
        )}
        {slice !== undefined && (
          <Fact name="At most">
            <InertLine text={limitsText(slice)} max={300} />
          </Fact>
        )}
        {brief !== undefined && cycle !== undefined && (
          <Fact name="Brief">
            <a href={briefPath(goalId, cycle, brief)}>{`Brief of cycle ${cycle}`}</a>
          </Fact>
        )}
      </dl>
      {plan !== undefined && <PlanChanges changes={plan} />}
    </section>
  );
}

/** Limits that limit something. */
function limitsText(slice: NonNullable<GoalCard['slice']>): string {
  const limits = Object.entries(slice).filter(([, value]) => typeof value === 'number');
  return limits.map(([name, value]) => `${nameOf(name)} ${budgetValue(name, value)}`).join(', ');
}

/** `maxToolCalls` as `tool calls`. */
function nameOf(limit: string): string {
  if (limit === 'maxCostMicroUsd') return 'money';
  return limit
    .replace(/^max/, '')
    .replaceAll(/([A-Z])/g, ' $1')
    .trim()
    .toLowerCase();
}

const COLUMNS = ['Step', 'Before', 'After'];
type Change = NonNullable<GoalCard['plan']>[number];

function PlanChanges({ changes }: { readonly changes: readonly Change[] }): VNode {
  if (changes.length === 0) return <p class="help">The plan has these steps by now.</p>;
  return (
    <table class="changes">
      <TableHead columns={COLUMNS} />
      <tbody>
        {changes.map(({ id, change, before, after }) => (
          <tr key={id}>
            <th scope="row">
              <InertLine text={id} max={64} /> <span class="badge">{change}</span>
            </th>
            <td>
              {before !== undefined && (
                <del>
                  <StepWords step={before} />
                </del>
              )}
            </td>
            <td>
              {after !== undefined && (
                <ins>
                  <StepWords step={after} />
                </ins>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function StepWords({ step }: { readonly step: NonNullable<Change['after']> }): VNode {
  const { title, status, note } = step;
  return (
    <>
      <InertLine text={title} max={200} />
      <span class="help">{` ${words(status)}`}</span>
      {note !== undefined && (
        <span class="help">
          {': '}
          <InertLine text={note} max={200} />
        </span>
      )}
    </>
  );
}
