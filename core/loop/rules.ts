/**
 * The rules of a run: the specification, read top-down. The first rule that fires decides, and the lists are tried again
 * from the top until none fires (step/advance.ts). docs/reference/semantics.md and `holdfast explain` tell these rows.
 * Words: an effect is work that is handed to a worker, or a timer; effects are in flight, or under way, until their
 * outcome is received. A turn is a reply with the results of its calls.
 * Invariants: a rule that fires changes what it looks at, so that it does not fire for ever; a name stands in the events
 * of its steps: names are added, never altered.
 */
import { arriving } from './arrival.js';
import { fetchKeys } from '../ask/await-keys.js';
import { escalateAsks } from '../ask/escalation.js';
import { tendChildren } from '../call/children.js';
import { afterCalls, awaitsHooks } from '../call/result.js';
import { dispatch } from '../call/dispatch.js';
import { BETWEEN_REPLIES } from './between-replies.js';
import { closing } from './closing.js';
import { decideMode, resolveWanted } from './model-and-mode.js';
import { complete } from '../gates/completion.js';
import { afterSampling } from '../hooks/background.js';
import { breakerTrip, requiredToolGone } from '../limits/observed-results.js';
import { askForBudget } from '../money/exceed.js';
import { accountForUnheard } from '../money/unheard-cost.js';
import { heedClose, interrupted, pausing } from './interrupt.js';
import { endUnopened, opening } from './opening.js';
import { segmentFull, waitAnew } from './segment.js';
import { rule, type Rule, type Ruling } from '../step/advance.js';
import { only } from '../step/inflight.js';
import type { OpenRun, Run, Turn } from '../state/run.js';
import { stop } from '../step/stop.js';
import { readMail } from '../turn/mail.js';
import { allSettled, nextTurn } from '../turn/reply.js';
import { isTruncated, recover } from '../turn/truncation.js';
import { watchWallTime } from './wall-time.js';

type Rules<Args extends readonly [Run, ...unknown[]]> = readonly Rule<string, Run, Args>[];

/** Of any run that has not ended, open or not. */
export const OPENING = [
  rule('close asked', {
    says: 'A `close` ends a conversation that waits for its user, once nothing queued is left to answer. A `close` cancels any other run, unless a person has interrupted that run already.',
    holds: 'nothing',
    since: 9,
    apply: heedClose,
  }),
  rule('not opened', {
    says: 'When the first segment cannot be opened, the workflow fails with the reason. When a person had stopped the run meanwhile, the run ends with that stop.',
    holds: 'nothing',
    since: 1,
    apply: endUnopened,
  }),
  rule('open', {
    says: 'Each segment begins with `open_run`: the first within the first task of the run, where that takes at most a second and asks nobody outside. An interrupt gives the opening 10 s more, then cancels it.',
    holds: 'everything, until `open_run` is back',
    since: 1,
    apply: opening,
  }),
] as const satisfies Rules<[run: Run]>;

/** Of an open run, whatever it is doing. */
export const ALWAYS = [
  rule('arrive', {
    says: 'The SessionStart hooks run first; an interrupt or cancel ends them. After them, in any case, `session_init` is the first event, warnings that waited follow, and the goal is the first message. A task that its starter, the agent, the configuration or a SessionStart hook refuses stops here, before any model call.',
    holds: 'everything, while SessionStart hooks run',
    since: 1,
    apply: arriving,
  }),
  rule('permission mode', {
    says: 'A permission mode that a person wants counts from the next permission decision on; a call whose question is open is decided anew, and a question that the mode makes needless is withdrawn. A mode that the run does not allow is refused with a warning.',
    holds: 'nothing',
    since: 9,
    apply: decideMode,
  }),
  rule('unheard costs', {
    says: 'When a model call ended without telling its cost, the rows of its attempts tell it (`account_call`). Nothing below is decided on a cost that is not known.',
    holds: 'everything, until the cost is known',
    since: 1,
    apply: accountForUnheard,
  }),
  rule('sub-agents', {
    says: 'A sub-agent whose row is written is started. An open one has the outcome that its workflow returned; it is read in the store when it says that it has ended, and looked at after 1, 2, 4 … minutes without a word, at most hourly; what was reserved for it comes back with its outcome, less what it cost. An open one that has used up its money gets more of what the run has left; else the run asks above itself, and the root asks a person. A run that stops or pauses tells its open sub-agents, and waits for their outcomes: a minute for each generation that may be below it.',
    holds: 'nothing',
    since: 15,
    apply: tendChildren,
  }),
  rule('close', {
    says: 'A run that stops cancels what is under way (a stop by a person, the end of time) or lets it finish (any other stop). Then each call gets its result, each question is withdrawn, `stop` and `run_result` are emitted, the SessionEnd hooks run, and the rest is stored.',
    holds: 'everything: a run that stops decides nothing else',
    since: 1,
    apply: closing,
  }),
  rule('interrupt', {
    says: 'A person’s interrupt or cancel stops the run, or begins a pause where the run allows pauses. When a budget is used up between two turns, the run stops for that budget instead, even where it would pause; a budget that a person may be asked about does not count here.',
    holds: 'nothing',
    since: 1,
    apply: interrupted,
  }),
  rule('pause', {
    says: 'A run that pauses cancels what is under way, gives each call its result, withdraws each question, then waits for its user’s next message.',
    holds: 'everything, until nothing is under way',
    since: 1,
    apply: pausing,
  }),
  rule('segment full', {
    says: 'No effect starts in a full segment. When only timers are left in flight, the run continues as new: questions to people are no effects, and go along with their votes and timers. A run that is too large for that stores its events and messages first.',
    holds: 'every start, while work is in flight',
    since: 1,
    apply: segmentFull,
  }),
  rule('fetch keys', {
    says: 'A decision that is signed with a key of the desk which the run does not know waits while the keys are fetched (`fetch_keys`): once for each key, and for at most eight keys, until a minute has passed without.',
    holds: 'nothing',
    since: 10,
    apply: (run) => (run.keyWait === undefined ? undefined : fetchKeys(run)),
  }),
  rule('end of wall time', {
    says: 'With `timeoutCounts: wall` a timer ends the run at its time, whatever the run waits for. Work under way is cancelled first.',
    holds: 'everything, while what is cancelled comes back',
    since: 1,
    apply: watchWallTime,
  }),
  rule('read mail', {
    says: 'When a signal says that other runs of the tree have written, `read_mail` brings their letters, five at a time, as far as the queue has room. Letters are said to the model like messages of the user, before its next request, as data of a named sender. A paused run reads none.',
    holds: 'nothing',
    since: 15,
    apply: readMail,
  }),
  rule('escalate', {
    says: 'A question that nobody has decided in time is told once to its further roles, who may decide from then on as well.',
    holds: 'nothing',
    since: 1,
    apply: escalateAsks,
  }),
  rule('larger budget', {
    says: 'With `onBudget: ask` a used-up budget becomes a question to a person. An approval raises that budget by a named amount for the rest of the run; any other answer ends the run with the budget’s stop reason. A sub-agent asks the run above it, for money alone.',
    holds: 'every start, while the question is open',
    since: 1,
    apply: askForBudget,
  }),
  rule('resolve model', {
    says: 'A model that a person names is looked up at once, beside everything else.',
    holds: 'nothing',
    since: 1,
    apply: resolveWanted,
  }),
] as const satisfies Rules<[run: OpenRun]>;

/** While the newest reply and its calls are worked on. */
export const WITH_REPLY = [
  rule('hooks after reply', {
    says: 'The PostSampling hooks start once for each reply. The run does not wait for them.',
    holds: 'nothing',
    since: 1,
    apply: afterSampling,
  }),
  rule('last word', {
    says: 'The reply to a wrap-up request ends the run with the budget’s stop reason. The calls of that reply are not run.',
    holds: 'nothing',
    since: 1,
    apply: (run, _turn) => (run.wrapUp?.asked ? only(stop(run, run.wrapUp.reason)) : undefined),
  }),
  rule('hooks after calls', {
    says: 'Each call that an executor has run gets its PostToolUse or PostToolUseFailure hooks as soon as the call is settled, in the order of the calls.',
    holds: 'nothing',
    since: 1,
    apply: afterCalls,
  }),
  rule('calls settled', {
    says: 'A required tool that is gone, or a tool that failed too often, stops the run, even while other calls wait. When every call has its result and its hooks are done, the results become one message and the next turn begins.',
    holds: 'nothing',
    since: 1,
    apply: callsSettled,
  }),
  rule('dispatch', {
    says: 'Money is looked at once more before the first call of a reply. Then each call that may run moves on, one station at a time: lookup, check, hook, permission, approval, grant, settlement. An approval counts also when the end of its question’s time comes in the same moment. A freeze is looked at when a call is handed over: it keeps no question from being asked, decided or expiring.',
    holds: 'everything below, while the reply has calls',
    since: 1,
    apply: (run, turn) => (turn.calls.length === 0 ? undefined : (dispatch(run, turn) ?? 'hold')),
  }),
  rule('completion gates', {
    says: 'A whole reply without calls passes the completion gates in their order. A gate asks the model again, stops the run or waits; a reply that passes all of them is the answer. A message of the user that waits is answered before the run completes.',
    holds: 'everything below, while Stop hooks run',
    since: 1,
    apply: (run, turn) => (isTruncated(turn) ? undefined : complete(run, turn)),
  }),
  rule('truncation', {
    says: 'A cut-off reply without a whole call is no answer; whole calls of such a reply are run above, and the next turn begins. By `maxTokensStrategy` the conversation is summarised, the model goes on where it stopped, or the run stops; a reply that the vendor paused is resumed up to five times.',
    holds: 'nothing',
    since: 1,
    apply: (run, turn) => only(recover(run, turn)),
  }),
] as const satisfies Rules<[run: OpenRun, turn: Turn]>;

/** Of an open run for which no rule above fires, or one holds. */
export const AT_REST = [
  rule('wait in a new segment', {
    says: 'A run that has nothing left to do but to wait for people continues as new first when its segment has started 64 effects, which are about thirty turns. Questions go along with their votes and timers. A run with open sub-agents stays, and so does a run that is too large.',
    holds: 'nothing',
    since: 21,
    apply: waitAnew,
  }),
] as const satisfies Rules<[run: OpenRun]>;

/** All lists, in the order in which they are tried; of the two about replies the one that applies. */
export const RULE_LISTS = [
  { title: 'Of any run that has not ended', rules: OPENING },
  { title: 'Of an open run', rules: ALWAYS },
  { title: 'With a reply at hand', rules: WITH_REPLY },
  { title: 'Between replies', rules: BETWEEN_REPLIES },
  { title: 'At rest', rules: AT_REST },
] as const;

export type RuleName = (typeof RULE_LISTS)[number]['rules'][number]['name'];

function callsSettled(run: OpenRun, turn: Turn): Ruling<Run> {
  if (turn.calls.length === 0) return undefined;
  const tripped = requiredToolGone(run, turn) ?? breakerTrip(run);
  if (tripped !== undefined) return only(stop(run, tripped.reason, tripped));
  return allSettled(turn) && !awaitsHooks(run, turn) ? only(nextTurn(run, turn)) : undefined;
}
