/** The last list of rules (rules.ts): when no reply is at hand. */
import { afterCompaction } from '../context/after-compaction.js';
import { makeRoom } from '../context/compaction.js';
import { adoptModel } from './model-and-mode.js';
import { asking, asksModel, awaitingUser, hasNothingToSay, limits } from './next-request.js';
import { handOver } from './handoff.js';
import { rule, type Rule } from '../step/advance.js';
import type { OpenRun, Run } from '../state/run.js';
import { awaitMail } from '../turn/mail.js';
import { modelFailed } from '../turn/model-failure.js';
import { supervise } from './supervise.js';
import { storeMessages } from '../turn/store-messages.js';

/** When no reply is at hand: before the next request, and while one is under way. */
export const BETWEEN_REPLIES = [
  rule('model failure', {
    says: 'A model call that failed for good leads to the fallback model, to a summary when the prompt was too long, to a question about a budget, or to the end of the run. The StopFailure hooks are told of errors that no fallback takes over.',
    holds: 'nothing',
    since: 1,
    apply: modelFailed,
  }),
  rule('after compaction', {
    says: 'A summary that makes the conversation shorter takes its place. Any other outcome leaves the conversation as it is, and the run goes on or stops by what the summary was for.',
    holds: 'nothing',
    since: 1,
    apply: afterCompaction,
  }),
  rule('hand over', {
    says: 'A granted handoff takes effect when its turn is over: what is under way ends, the messages are stored, and the run continues as new. The next segment opens with the other agent: its prompt, tools, policy, hooks and model, with the conversation that the filter lets through. Budgets and counters go on. Where the declaration says so, another run is started with what is left of the budgets (`prepare_handoff`), and this one ends `completed`, detail `handed_off`.',
    holds: 'everything below, until the other agent is there',
    since: 15,
    apply: handOver,
  }),
  rule('large messages', {
    says: 'Messages that the next request cannot bring along are stored first, by an effect of their own.',
    holds: 'everything below, until they are stored',
    since: 1,
    apply: (run) => (asksModel(run) ? undefined : storeMessages(run)),
  }),
  rule('letters first', {
    says: 'The next request waits for letters of other runs that are being read.',
    holds: 'everything below, until the letters are there',
    since: 15,
    apply: awaitMail,
  }),
  rule('adopt model', {
    says: 'A model that was looked up takes the place of the other one between two requests.',
    holds: 'everything below, while the model is looked up',
    since: 1,
    apply: (run) => (asksModel(run) ? undefined : adoptModel(run)),
  }),
  rule('limits', {
    says: 'Between two turns the budgets are looked at, in their order: a used-up budget stops the run, or is asked about. A conversation that waits for its user without a message is left alone.',
    holds: 'everything below, while a reply, a summary or a look of a supervisor is awaited',
    since: 1,
    apply: limits,
  }),
  rule('compaction', {
    says: 'When the context is over its threshold, or the model had no room, the conversation is summarised before the next request. A context that is full all the same stops the run.',
    holds: 'everything below, while PreCompact hooks run',
    since: 1,
    apply: (run) => (hasNothingToSay(run) || run.wrapUp !== undefined ? undefined : makeRoom(run)),
  }),
  rule('supervise', {
    says: 'A supervisor looks at a run after so many turns, or after events that call for a look. The supervisor says that the run goes on, steers the run by a message, interrupts the run, or asks a person. A look without a word is told, and the run goes on.',
    holds: 'everything below, while a look is under way or its question is open',
    since: 17,
    apply: (run) =>
      run.supervision === undefined || hasNothingToSay(run) ? undefined : supervise(run),
  }),
  rule('ask the model', {
    says: 'The next model call starts, with the oldest queued messages of the user. A conversation that waits for its user needs a message first.',
    holds: 'nothing',
    since: 1,
    apply: asking,
  }),
  rule('await the user', {
    says: 'A conversation without a message asks its user for one. A `close` or the end of that wait completes the run; after a pause nobody who comes back means `interrupted`.',
    holds: 'everything, while the question is open',
    since: 1,
    apply: awaitingUser,
  }),
] as const satisfies readonly Rule<string, Run, [run: OpenRun]>[];
