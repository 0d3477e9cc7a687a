/**
 * Every change of what the core decides for the same inputs, by name.
 * Invariants:
 *  H1 A run keeps the rules number that its segment began with, and code asks for a change by name
 *     (`follows`), so that a recorded history replays by the rules that it was made with.
 *  H2 A number is sealed by the first history that is kept of it (histories/rules-N): from then on no change
 *     of that number is added, removed or altered. A new change takes the next number.
 */
import type { Carrier } from '../state/carrier.js';
import type { Run } from '../state/run.js';
import { GOAL_CHANGES, type Change } from './goal-changes.js';
import { RUN_CHANGES } from './run-changes.js';
import { TREE_CHANGES } from './tree-changes.js';

/** `docs/reference/semantics.md` lists them. */
export const CHANGES = {
  errorCodes: {
    since: 2,
    why: 'A result that is an error tells the model its code.',
  },
  callsBeforeStatus: {
    since: 2,
    why: 'A run shows that it goes on when the calls that it starts are back: showing costs the server a millisecond before it lets a call start.',
  },
  offeredTools: {
    since: 2,
    why: 'session_init names the tools that the run offers, not those that its agent has.',
  },
  othersWitness: {
    since: 3,
    why: 'The caller of a run does not say whether its effects happened: the answer decides whether they are done again for that caller.',
  },
  failureHints: {
    since: 3,
    why: 'A failed model call says itself what to do next.',
  },
  ownErrorFirst: {
    since: 3,
    why: 'A failed model call is named by its own error also where no time was left for another attempt.',
  },
  namedReplies: {
    since: 3,
    why: 'A reply whose calls its event cannot hold names the message that has them.',
  },
  grantsThatHold: {
    since: 4,
    why: 'Only standing grants that still hold count against the limit of grants.',
  },
  provenModes: {
    since: 4,
    why: 'A run whose decisions must be proven refuses a wider permission mode: nothing proves who wants it.',
  },
  unprovenReason: {
    since: 4,
    why: 'A decision without a valid signature is refused as `unproven`, with the defect; it was `malformed`.',
  },
  ruleNames: {
    since: 5,
    why: 'Each event names the rule that fired when it was emitted.',
  },
  workedTime: {
    since: 6,
    why: 'Limits count work, not absence: active time is the union of what effects worked, no effect has a limit from its schedule on, and an attempt that reached nothing is none.',
  },
  toldRecovery: {
    since: 7,
    why: 'The steps of finding out what became of a lost call are an event.',
  },
  toldDecisions: {
    since: 8,
    why: 'A decision that its sender could not write into the audit trail is an event, and a refusal names the decision that it is about: while the store is away only the run can tell them.',
  },
  keysAwaited: {
    since: 8,
    why: 'A decision that came by signal, signed with a key that the run has not been told of, waits for the next segment, which is told the keys: its sender hears of no refusal.',
  },
  stopShown: {
    since: 8,
    why: 'A run that a person stops shows it when it stops: its last record may wait for the store.',
  },
  ownStore: {
    since: 8,
    why: 'A run knows the store that has its records: another store is refused, and what an older copy of it has no row of is unknown.',
  },
  waitForCode: {
    since: 8,
    why: 'Code that no worker serves is waited for, up to `unservedTimeoutMs`, a call whose tool is served with another schema is checked and asked about again, and a tool that is declared required, or that a criterion needs, ends the run when nobody can call it.',
  },
  heardOpening: {
    since: 8,
    why: 'A worker that dies while it opens a run is noticed by its heartbeats, not after a minute. The code that decided the first step says by its name whether it knows this.',
  },
  claimInDoubt: {
    since: 9,
    why: 'An attempt that ended in doubt says that its claim was in the ledger, also when its worker lives: whoever finds out what became of it knows by that an older copy of the store.',
  },
  ruledInputs: {
    since: 9,
    why: 'A wanted permission mode is decided by a rule, which its event names, and so is what a `close` ends: all facts of a moment are known by then.',
  },
  joinedAnswers: {
    since: 10,
    why: 'Replies without calls that continue one another are one answer: the result, the gates of completion and the Stop hooks see the joined text.',
  },
  grantedHandoffs: {
    since: 10,
    why: 'A call that hands over to a person passes all stations: hooks and policy may deny it, and its permission is told.',
  },
  sessionReentries: {
    since: 10,
    why: 'How often Stop hooks send answers back is counted over a session, not over each of its runs.',
  },
  wrapUpFits: {
    since: 10,
    why: 'The last word of a run comes after any budget that leaves room for one request, and never after the turns: `maxTurns` is exact.',
  },
  pinnedProofs: {
    since: 10,
    why: 'A result that has met a predicate or a criterion stays pinned as its proof, whatever its tool returns later.',
  },
  unmetEvidence: {
    since: 10,
    why: 'A tool that is gone ends the run also when the tool has returned before, but nothing that met the predicate of its evidence.',
  },
  heldWords: {
    since: 10,
    why: 'While a correction is checked, the words of others are held with it, and a rejection beats it; whoever loses hears who decided, and when.',
  },
  keysFetched: {
    since: 10,
    why: 'A decision that is signed with a key which the run has not been told of waits while the keys are fetched, by an effect: no segment ends for it. A run whose decisions must be proven says so at its beginning.',
  },
  schemasRechecked: {
    since: 10,
    why: 'When the run adopts another schema of a tool, its calls that have not begun are checked by it, and whoever had approved one is asked again.',
  },
  bytesBound: {
    since: 10,
    why: 'Tokens that another model counted bound no request: the bytes of the conversation do.',
  },
  summaryFailuresTold: {
    since: 10,
    why: 'The StopFailure hooks are told of an error of the API that kept a summary from being made.',
  },
  clocksAhead: {
    since: 10,
    why: 'A decision that is dated more than a minute after it came does not count, and a role that joins later counts from then on by the clock of the run as well.',
  },
  thinkingTold: {
    since: 10,
    why: 'A limit of thinking that the model has no knob for is a warning, once a run: the request leaves without the limit.',
  },
  thoughtReplies: {
    since: 10,
    why: 'A reply with thinking names the message that has it, so that readers of the run are shown the thinking.',
  },
  matchedHooks: {
    since: 10,
    why: 'A hook that names tools or effects is asked about calls of those alone: a call that no hook matches costs no activity.',
  },
  refusedTasks: {
    since: 10,
    why: 'A SessionStart hook that denies refuses the task before the first model call.',
  },
  shownTransition: {
    since: 10,
    why: 'A run keeps its newest transition: its state says why it went on.',
  },
  toolCosts: {
    since: 10,
    why: 'The cost that a tool reports counts in the budget of money; the most that the tool declares is reserved before, and charged for an attempt that is lost.',
  },
  routeHashes: {
    since: 10,
    why: 'The versions of a run name a model route by its hash, so that another window, price or limit under the same name is told apart.',
  },
  toldLeftOut: {
    since: 10,
    why: 'Fields of arguments that the schema of the tool does not declare do not reach the tool; what was left out is a warning.',
  },
  growthTold: {
    since: 10,
    why: 'Cost or tokens that keep doubling from turn to turn are a warning, once a run.',
  },
  reachableIds: {
    since: 10,
    why: 'A run named `.` or `..` is refused, whoever starts it: nobody could reach it. The code that decided the first step says by its name whether it knows this.',
  },
  toolQueues: {
    since: 10,
    why: 'Calls of a tool, and what finds out how they ended, go to the task queue that the tool named when the run was opened; calls in a sandbox to the queue of its sandbox.',
  },
  cardShown: {
    since: 10,
    why: 'A question says what its tool declares of its card: which argument is the amount, in which unit, and which one says to whom.',
  },
  wellFormedInputs: {
    since: 11,
    why: 'A text with half of a surrogate pair is refused, in a start and in each message: it has no form in UTF-8. The code that decided the first step says by its name whether it knows this.',
  },
  queuesLimited: {
    since: 11,
    why: 'A task queue of a tool on which nobody works is waited for, up to `unservedTimeoutMs`; then the call is unavailable, unless the ledger knows of it.',
  },
  ...RUN_CHANGES,
  ...TREE_CHANGES,
  ...GOAL_CHANGES,
} as const satisfies { readonly [name: string]: Change };

export type ChangeName = keyof typeof CHANGES;

/** True when the run decides with this change. */
export function follows({ rules }: Pick<Carrier, 'rules'>, change: ChangeName): boolean {
  return rules >= CHANGES[change].since;
}

/** The rules of a run until its first activity says which it is to follow: that is in its history. */
export const FIRST_RULES = 1;

/** The newest rules number that this code knows. A run with a greater number was made by a newer release. */
export const RULES_VERSION: number = Math.max(
  FIRST_RULES,
  ...Object.values(CHANGES).map(({ since }) => since),
);

/** Gives the number back, or throws: code that does not know a rules number must not decide by it. */
export function knownRules(rules: number): number {
  if (rules <= RULES_VERSION) return rules;
  throw new Error(
    `RulesTooNew: this run follows rules ${rules}, this worker knows ${RULES_VERSION}; deploy a newer worker`,
  );
}

/** The same of a run that may not know its rules yet: the code that decided its first step says which they are. */
export function knows(
  { rules, begunWith = FIRST_RULES, frozen }: Pick<Run, 'rules' | 'begunWith' | 'frozen'>,
  change: ChangeName,
): boolean {
  return follows({ rules: frozen === undefined ? begunWith : rules }, change);
}
