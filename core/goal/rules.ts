/**
 * The rules of a goal: the specification, read top-down. The first rule that fires decides, and the list is tried again
 * from the top until none fires (step/advance.ts). docs/reference/semantics.md tells these rows.
 * Invariants: a rule that fires changes what it looks at; a name stands in the events of its steps: names are added,
 * never altered.
 */
import { rule, type Rule } from '../step/advance.js';
import { only } from '../step/inflight.js';
import type { Goal, OpenGoal } from '../state/goal/goal.js';
import { heedAnswers } from './answers.js';
import { startChild, watchChild } from './cycle.js';
import { closing, cutShort, end } from './ending.js';
import { afterChange, heedMessage } from './heed.js';
import { countProgress, judge, noteRow, reviewing, rowsAgain, saveCheckpoint } from './pass.js';
import { validate } from './checks.js';
import { askForWord, askInDoubt, awaitPeople, endByRow, startCycle, wantedReview } from './rest.js';
import { approveChanges, approveCycle } from './approvals.js';
import { holdPaused, pace, sleepForTick } from './sleep.js';
import { deadline } from './rows.js';
import { endUnopened, openGoal } from './opening.js';
import { begin, segmentFull, fetchKeys } from './segment.js';

type Rules<Args extends readonly [Goal, ...unknown[]]> = readonly Rule<string, Goal, Args>[];

/** Of any goal that has not ended, open or not. */
export const GOAL_OPENING = [
  rule('goal not opened', {
    says: 'When the first segment cannot be opened, the workflow fails with the reason; when people have ended the goal meanwhile, the goal ends by their word, without events.',
    holds: 'nothing',
    since: 10,
    apply: endUnopened,
  }),
  rule('open goal', {
    says: 'Each segment begins with `open_goal`, which fixes the definition, the tools of its checks and the models of its judges. A cancel gives the opening 10 s more, then cancels it; so does a stop before the first segment is open.',
    holds: 'everything, until `open_goal` is back',
    since: 10,
    apply: openGoal,
  }),
] as const satisfies Rules<[goal: Goal]>;

/** Of an open goal. */
export const GOAL_RULES = [
  rule('begin goal', {
    says: '`goal_started` is the first event. The timer of the deadline is set, and the baseline begins: a pass before the first cycle.',
    holds: 'nothing',
    since: 10,
    apply: begin,
  }),
  rule('cancel goal', {
    says: 'A cancel ends the goal at once, whatever it is doing.',
    holds: 'nothing',
    since: 10,
    apply: (goal) =>
      goal.cancelRequested && goal.ending === undefined
        ? only(end(goal, { row: 'cancel', reason: 'aborted' }))
        : undefined,
  }),
  rule('deadline', {
    says: 'At its deadline the goal ends, whatever it is doing; an open cycle is interrupted.',
    holds: 'nothing',
    since: 10,
    apply: (goal) => {
      const row = goal.ending === undefined ? deadline(goal) : undefined;
      return row === undefined ? undefined : only(end(goal, row));
    },
  }),
  rule('cut short', {
    says: 'Of a pass that an ending meets only the progress and the checkpoint are left.',
    holds: 'nothing',
    since: 10,
    apply: cutShort,
  }),
  rule('progress', {
    says: 'Behind a cycle its progress is counted: a measurement better than its best, a step done with evidence, a first value of the published state, an effect that no earlier cycle had. Words are none.',
    holds: 'nothing',
    since: 10,
    apply: countProgress,
  }),
  rule('checkpoint', {
    says: 'Each pass ends with one checkpoint, which stores the events of the pass.',
    holds: 'everything, until the checkpoint is stored',
    since: 10,
    apply: saveCheckpoint,
  }),
  rule('close goal', {
    says: 'A goal that ends starts nothing, withdraws its questions, and cancels, interrupts or awaits its open cycle, for `closeMs` at most. Then come `stop` and `goal_result`.',
    holds: 'everything: a goal that ends decides nothing else',
    since: 10,
    apply: (goal) => (goal.ending === undefined ? undefined : (closing(goal) ?? 'hold')),
  }),
  rule('goal segment full', {
    says: 'In a full segment nothing starts. When only timers are in flight, the goal continues as new: its open cycle, its questions and its timers go along.',
    holds: 'every start, while work is in flight',
    since: 10,
    apply: segmentFull,
  }),
  rule('fetch keys of the goal', {
    says: 'A decision or message that is signed with a key of the desk which the goal does not know waits while the keys are fetched.',
    holds: 'nothing',
    since: 10,
    apply: fetchKeys,
  }),
  rule('answers', {
    says: 'A question that votes or time have decided is closed, and its answer takes effect.',
    holds: 'nothing',
    since: 10,
    apply: (goal) => (goal.pass === undefined ? heedAnswers(goal) : undefined),
  }),
  rule('messages', {
    says: 'The words of people take effect between a pass and the next start, or while a cycle is open, in the order of arrival.',
    holds: 'everything below, while a message is stored',
    since: 10,
    apply: heedMessage,
  }),
  rule('after a change', {
    says: 'An approval that was given before the next cycle changed is asked for anew. A wake that came with a message ends the sleep.',
    holds: 'nothing',
    since: 10,
    apply: afterChange,
  }),
  rule('start the child', {
    says: 'A prepared cycle is started as a run of its own, which outlives the segment.',
    holds: 'everything below, until the child is there',
    since: 10,
    apply: startChild,
  }),
  rule('watch the child', {
    says: 'An open cycle is looked at when it says that it has ended, at once when it ran before this execution, and after 1, 2, 4 … minutes, at most hourly, without a word. The outcome is read from the store.',
    holds: 'everything below, while the outcome is read',
    since: 10,
    apply: watchChild,
  }),
  rule('validate', {
    says: 'Every check runs once before the first cycle and behind every cycle, four at once.',
    holds: 'everything below, while checks run',
    since: 10,
    apply: validate,
  }),
  rule('judge', {
    says: 'A judge is asked when everything cheaper of `all` holds, or of `any` nothing cheaper does, once for the same evidence.',
    holds: 'everything below, while a judge is asked',
    since: 10,
    apply: judge,
  }),
  rule('note the row', {
    says: 'The first row that would end the goal is noted.',
    holds: 'nothing',
    since: 10,
    apply: noteRow,
  }),
  rule('review', {
    says: 'A pass has at most one review: when one is due, or a row was noted. The reviewer is asked only if no row was noted, or only an exhausted plan.',
    holds: 'everything below, while the reviewer is asked',
    since: 10,
    apply: reviewing,
  }),
  rule('rows once more', {
    says: 'Behind the review the rows are looked at once more.',
    holds: 'nothing',
    since: 10,
    apply: rowsAgain,
  }),
  rule('wanted review', {
    says: 'A review that a person wants begins a pass.',
    holds: 'nothing',
    since: 10,
    apply: wantedReview,
  }),
  rule('end by a row', {
    says: 'The first row that matches ends the goal, behind each pass and before each start. A used-up budget and a goal that is stuck are asked about where the definition says so; people are asked for their word before a late row.',
    holds: 'nothing',
    since: 10,
    apply: endByRow,
  }),
  rule('ask for a word', {
    says: 'People are asked when everything else of `all` holds; in `any`, or alone, when a cycle proposes that the goal is done.',
    holds: 'nothing',
    since: 10,
    apply: askForWord,
  }),
  rule('ask in doubt', {
    says: 'Three invalid answers in a row of a judge or the reviewer, and effects whose end nobody knows, are questions to a person.',
    holds: 'nothing',
    since: 10,
    apply: askInDoubt,
  }),
  rule('await people', {
    says: 'While people are asked about anything but the next cycle, none starts.',
    holds: 'everything below',
    since: 10,
    apply: awaitPeople,
  }),
  rule('approve changes', {
    says: 'A changed plan, a handoff and what the reviewer wants asked take effect, behind an approval where the definition asks for one.',
    holds: 'nothing',
    since: 10,
    apply: approveChanges,
  }),
  rule('paused', {
    says: 'A paused goal holds until it is resumed.',
    holds: 'everything below',
    since: 10,
    apply: holdPaused,
  }),
  rule('approve the cycle', {
    says: 'Where the definition asks for it, a person approves the next cycle: its number, agent, brief and slice.',
    holds: 'everything below, while the question is open',
    since: 10,
    apply: approveCycle,
  }),
  rule('sleep for a tick', {
    says: 'With a cron line the goal sleeps until its next tick.',
    holds: 'nothing',
    since: 10,
    apply: sleepForTick,
  }),
  rule('pace', {
    says: 'By its pace, and by pauses that a cycle or the reviewer asked for, the goal sleeps; a wake that was kept ends the sleep at once.',
    holds: 'everything below, while the goal sleeps',
    since: 10,
    apply: pace,
  }),
  rule('start a cycle', {
    says: 'The next cycle begins: its money is reserved, its brief is written.',
    holds: 'nothing',
    since: 10,
    apply: startCycle,
  }),
] as const satisfies Rules<[goal: OpenGoal]>;

export const GOAL_RULE_LISTS = [
  { title: 'Of any goal that has not ended', rules: GOAL_OPENING },
  { title: 'Of an open goal', rules: GOAL_RULES },
] as const;

export type GoalRuleName = (typeof GOAL_RULE_LISTS)[number]['rules'][number]['name'];
