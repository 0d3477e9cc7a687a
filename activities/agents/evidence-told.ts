/**
 * What a cycle of a goal is told of the evidence that a sub-agent of it has: the ids under which its calls can be cited.
 * Invariant: an id is looked up when it is cited; a text of the sub-agent that names other ids proves nothing.
 */
import { countsAsEvidence, placeBelowCycle } from '../../pure/goal/evidence.js';
import { isOfGoal } from '../../store/of-goal.js';
import type { StoreCalls } from '../../store/store.js';

const IDS_MAX = 20;
const EVENTS_PER_PAGE = 1_000;
const PAGES_MAX = 50;

interface SubAgent {
  readonly tenant: string;
  readonly child: string;
}

/** '': it works for no goal, or has none. Of many the newest. */
export async function evidenceTold(
  store: StoreCalls,
  { tenant, child }: SubAgent,
): Promise<string> {
  const place = placeBelowCycle(child);
  if (place === undefined) return '';
  const { goal, prefix } = place;
  if (!(await isOfGoal(store, { tenant, goal }, child))) return '';
  const ids: string[] = [];
  let sinceSeq = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const wanted = { sinceSeq, limit: EVENTS_PER_PAGE };
    const { events, nextSeq } = await store.readEvents({ tenant, runId: child }, wanted);
    for (const event of events) {
      // What those below it have is told by them.
      if (countsAsEvidence(event) && event.child === undefined)
        ids.push(`${prefix}${event.callId} (${event.tool})`);
    }
    if (events.length < EVENTS_PER_PAGE) break;
    sinceSeq = nextSeq;
  }
  if (ids.length === 0) return '';
  return `\n\nEvidence ids of its calls: ${ids.slice(-IDS_MAX).join(', ')}`;
}
