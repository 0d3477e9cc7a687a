/** Ids of evidence, each of which leads to what stands behind it. */
import type { VNode } from 'preact';
import { InertLine } from '../parts/inert.js';
import { evidencePath } from '../parts/paths.js';

interface EvidenceLinksProps {
  readonly goalId: string;
  readonly ids: readonly string[] | undefined;
}

export function EvidenceLinks({ goalId, ids = [] }: EvidenceLinksProps): VNode | null {
  if (ids.length === 0) return null;
  return (
    <ul class="evidence-links" aria-label="Evidence">
      {ids.map((id) => (
        <li key={id}>
          <a href={evidencePath(goalId, id)}>
            <InertLine text={id} max={120} />
          </a>
        </li>
      ))}
    </ul>
  );
}
