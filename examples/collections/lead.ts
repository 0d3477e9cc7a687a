/** The lead of collections in the simulation: a person who answers two hours after they were asked. */
import { days, hours, type RunEvent } from '../../index.js';
import type { AskedEvent, GoalWorld } from '../../testing/index.js';
import { addDays, dayOf } from './calendar.js';
import { SETTLED_AFTER } from './customers.js';
import type { Ledger } from './ledger.js';
import { LEAD } from './tools.js';

const ANSWERS_AFTER_MS = hours(2);
/** A person who finds a blocked goal takes some days to decide. */
const DECIDES_AFTER_MS = days(3);
const MIA = { by: 'mia', roles: [LEAD] };

export interface LeadOptions {
  readonly ledger: Ledger;
  readonly firstDay: string;
}

export function simulatedLead({ ledger, firstDay }: LeadOptions) {
  let rejected = false;
  let isDeciding = false;

  function answer(ask: AskedEvent, world: GoalWorld): void {
    if (ask.type === 'input_request') {
      const until = addDays(firstDay, SETTLED_AFTER);
      return world.answer(ask, `I have talked to them: they pay until ${until}.`, MIA);
    }
    const { invoiceId } = (ask.args ?? {}) as { readonly invoiceId?: string };
    // A rejection ends nothing: the agent asks again on another morning.
    if (invoiceId === 'INV-106' && !rejected) {
      rejected = true;
      return world.reject(ask, {
        ...MIA,
        reason: 'They called me. Remind them tomorrow if nothing came.',
      });
    }
    world.approve(ask, MIA);
  }

  function decide(world: GoalWorld): void {
    const day = dayOf(world.now());
    const because = 'Handed to a collection agency.';
    ledger.agree('mia:INV-105', {
      invoiceId: 'INV-105',
      until: addDays(day, 365),
      because,
      day,
      by: MIA.by,
    });
    world.say({ type: 'steer', text: 'I have handed INV-105 to a collection agency.' }, MIA);
  }

  return {
    hears(event: RunEvent, world: GoalWorld): void {
      if (event.type === 'approval_requested' || event.type === 'input_request') {
        world.after(ANSWERS_AFTER_MS, () => answer(event, world));
      }
      const isBlocked =
        event.type === 'model_response' && event.calls.some(({ tool }) => tool === 'goal_block');
      if (!isBlocked || isDeciding) return;
      isDeciding = true;
      world.after(DECIDES_AFTER_MS, () => decide(world));
    },
  };
}
