/** Ninety days of the goal under virtual time: no server, no waiting; customers and lead are simulated. */
import { simulateGoal } from '../../testing/index.js';
import { durationText } from '../../cli/render/index.js';
import { reportGoal } from '../demo/goal-report.js';
import { storyteller } from '../demo/goal-story.js';
import { modelFor, modelWords } from '../demo/model.js';
import { endOf, type Demo } from '../demo/program.js';
import { dayOf, TIME_ZONE } from './calendar.js';
import { collectionsOf } from './collections.js';
import { simulatedLead } from './lead.js';
import { openLedger } from './ledger.js';
import { reportLedger } from './report.js';
import { collectionsScript } from './script.js';

/** A Monday, an hour before work begins. */
const START = Date.UTC(2026, 0, 5, 6);

export async function playQuarter({ terminal, closers, stop }: Demo): Promise<number> {
  const model = await modelFor({ environment: process.env, script: collectionsScript, closers });
  const firstDay = dayOf(START);
  const ledger = openLedger(':memory:', firstDay);
  closers.add(ledger.close);
  terminal.say(`Ninety days from ${firstDay} on, under virtual time.`);
  terminal.say(`  Model   ${modelWords(model)}`);
  const lead = simulatedLead({ ledger, firstDay });
  const story = storyteller({ paint: terminal.paint, timeZone: TIME_ZONE, days: true });
  const { goal } = collectionsOf({ ledger, now: Date.now });
  const began = Date.now();
  const played = await simulateGoal({
    goal,
    goalId: 'collections',
    config: (now) => collectionsOf({ ledger, now }).config,
    providers: model.providers,
    startAt: START,
    signal: stop.signal,
    onEvent: (event, world) => {
      story.tell(event).forEach((line) => terminal.say(line));
      lead.hears(event, world);
    },
  });
  if (stop.signal.aborted) return endOf(stop.signal);
  const code = reportGoal(terminal, { result: played.result, model });
  reportLedger(terminal, { ledger, today: dayOf(START + played.durationMs) });
  const took = durationText(Date.now() - began);
  terminal.say(`${durationText(played.durationMs)} passed in ${took}.`);
  for (const violation of played.violations) terminal.say(terminal.paint.red(violation));
  return played.violations.length === 0 ? code : 1;
}
