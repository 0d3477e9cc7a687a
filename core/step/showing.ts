/**
 * What a start shows of its run in Temporal's own lists, in place of the run's first showing.
 * Invariant: the run takes it for its own only where it is what the run would say (rules with `startShown`).
 */
import type { Carrier } from '../state/carrier.js';
import type { Showing } from '../state/showing.js';
import type { StartInput } from '../state/task.js';
import { FIRST_RULES, follows } from './changes.js';

type Started = Pick<StartInput, 'agent' | 'tenant'>;

const BEGUN = 'running';

/** Of the start of another run. */
export function startShows(
  carrier: Pick<Carrier, 'rules'>,
  { agent, tenant = 'default' }: Started,
): { readonly shows?: Showing } {
  if (!follows(carrier, 'startShown')) return {};
  return { shows: { status: BEGUN, agent, tenant } };
}

/** The status that a run begins with: that of its start, where it is the run's own showing. */
export function shownAtStart(
  { agent, tenant = 'default' }: Started,
  { shown, rules = FIRST_RULES }: { readonly shown?: Showing; readonly rules?: number | undefined },
): { readonly shownStatus?: string } {
  if (shown?.status === undefined || !follows({ rules }, 'startShown')) return {};
  const isOwn = shown.agent === agent && shown.tenant === tenant;
  return isOwn ? { shownStatus: shown.status } : {};
}
