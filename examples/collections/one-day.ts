/** One morning of the goal on a real server: woken at once, and stopped when it goes to sleep again. */
import { join, resolve } from 'node:path';
import type { GoalHandle, HoldfastClient, RunEvent } from '../../index.js';
import { createDesk, type Desk } from '../demo/desk.js';
import { freshDatabase } from '../demo/demo-folder.js';
import { followGoal } from '../demo/follow-goal.js';
import { reportGoal } from '../demo/goal-report.js';
import { setGoalStage } from '../demo/goal-stage.js';
import { storyteller } from '../demo/goal-story.js';
import { modelWords } from '../demo/model.js';
import { aborted, endOf, type Demo } from '../demo/program.js';
import { addDays, dayOf, TIME_ZONE } from './calendar.js';
import { collectionsOf } from './collections.js';
import { openLedger } from './ledger.js';
import { reportLedger } from './report.js';
import { collectionsScript } from './script.js';

const COMMAND = 'npm run example:collections -- --day';
const SPEAKER = { by: 'you@terminal' };

export async function workOneDay(demo: Demo): Promise<number> {
  const { terminal, closers, stop } = demo;
  const home = resolve(process.env['HOLDFAST_HOME'] ?? '.holdfast');
  const today = dayOf(Date.now());
  terminal.say(`One morning of collections, ${today}. Starting what it needs …`);
  const setting = setGoalStage({
    ...demo,
    environment: process.env,
    home,
    taskQueue: 'collections-agents',
    script: collectionsScript,
    // The folder is taken by then: no other demo has the ledger.
    config: () => {
      const file = freshDatabase(join(home, 'demo', 'ledger.db'));
      const ledger = openLedger(file, today);
      closers.add(ledger.close);
      return { ledger, ...collectionsOf({ ledger, now: Date.now }) };
    },
  });
  const stage = await Promise.race([setting, aborted(stop.signal)]);
  if (stage === undefined) return endOf(stop.signal);
  const { client, server, model, parts } = stage;
  terminal.say(`  Temporal server   ${server.address} (${server.how})`);
  terminal.say(`  Model             ${modelWords(model)}`);
  const goal = await client.startGoal({ goal: parts.goal });
  const desk = createDesk({
    client,
    terminal,
    command: COMMAND,
    onSilence: () => stop.abort('interrupted'),
    onError: (error) => stop.abort(error),
  });
  const story = storyteller({ paint: terminal.paint, timeZone: TIME_ZONE });
  const morning = oneMorning(goal, (error) => stop.abort(error));
  const result = await followGoal({
    client,
    goal,
    signal: stop.signal,
    onEvent: (event) => {
      // The card says more of a question.
      if (event.type !== 'approval_requested') {
        story.tell(event).forEach((line) => terminal.say(line));
      }
      ask({ client, desk, demo }, event);
      morning(event);
    },
  });
  if (result === undefined) {
    await goal.cancel(SPEAKER).catch(() => undefined);
    return endOf(stop.signal);
  }
  const code = reportGoal(terminal, { result, model });
  reportLedger(terminal, { ledger: parts.ledger, today });
  terminal.say(`Look: npx holdfast goal show ${goal.goalId}`);
  // The goal was stopped on purpose once its morning was over.
  return result.stopReason === 'interrupted' ? 0 : code;
}

/** It sleeps until eight o'clock: woken once. It sleeps again: the morning is over. */
function oneMorning(goal: GoalHandle, onError: (error: unknown) => void) {
  let hasWorked = false;
  return ({ type }: RunEvent): void => {
    if (type === 'cycle_started') hasWorked = true;
    if (type !== 'goal_sleeping') return;
    (hasWorked ? goal.stop(SPEAKER) : goal.wake(SPEAKER)).catch(onError);
  };
}

interface Asking {
  readonly client: HoldfastClient;
  readonly desk: Desk;
  readonly demo: Demo;
}

function ask({ client, desk, demo }: Asking, event: RunEvent): void {
  const { terminal, stop } = demo;
  if (event.type === 'approval_requested') desk.open(event.stamp.runId, event);
  if (event.type === 'approval_resolved' || event.type === 'approval_withdrawn') {
    desk.close(event.askId);
  }
  if (event.type !== 'input_request') return;
  const { askId, roles } = event;
  if (!terminal.yes) {
    const who = ['--as you@terminal', ...roles.map((role) => `--role ${role}`)].join(' ');
    terminal.say(
      `Answer it in another terminal: npx holdfast answer '${askId}' 'your words' ${who}`,
    );
    return;
  }
  const until = addDays(dayOf(event.stamp.at), 30);
  const answer = { kind: 'text', value: `They may pay until ${until}.` } as const;
  const answered = client
    .handle(event.stamp.runId)
    .answer(askId, answer, { by: 'demo-approver', roles });
  answered.catch((error: unknown) => stop.abort(error));
}
