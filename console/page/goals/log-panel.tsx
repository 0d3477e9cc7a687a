/** The progress log, the newest entry first. */
import type { VNode } from 'preact';
import type { GoalRecord } from '../data/api-types.js';
import { dateTime } from '../parts/format.js';
import { InertBlock } from '../parts/inert.js';
import { EvidenceLinks } from './evidence-links.js';

interface LogPanelProps {
  readonly goalId: string;
  readonly log: GoalRecord['log'];
}

export function LogPanel({ goalId, log }: LogPanelProps): VNode {
  if (log.length === 0) return <p class="help">The log has no entry yet.</p>;
  return (
    <ol class="goal-log">
      {[...log].reverse().map(({ at, cycle, kind, text, evidence }, place) => (
        <li key={place}>
          <span class="badge">{kind}</span>{' '}
          <span class="help">{`cycle ${cycle}, ${dateTime(at)}`}</span>
          <InertBlock text={text} />
          <EvidenceLinks goalId={goalId} ids={evidence} />
        </li>
      ))}
    </ol>
  );
}
