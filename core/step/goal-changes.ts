/**
 * The part of the named changes (changes.ts) that goals alone follow; same invariants.
 */
export interface Change {
  /** The first rules number that has it. */
  readonly since: number;
  /** What is decided otherwise, and why. */
  readonly why: string;
}

export const GOAL_CHANGES = {
  handedOffAtRest: {
    since: 12,
    why: 'A goal is handed over between two cycles: a goal whose cycle is open could complete with an effect in doubt. A message whose storing meets the end of the goal is refused.',
  },
  heardWhenBegun: {
    since: 12,
    why: 'A cycle that ran before a reset was told what its stored brief has. Later words of people, and what the goal had to tell, go to the next cycle.',
  },
  messageClocks: {
    since: 12,
    why: 'A message that is dated more than a minute after it came does not count: its date would shut the goal to later words. A cancel or stop counts whatever its date, and a cancel however much waits.',
  },
  messagesBound: {
    since: 12,
    why: 'A message that does not fit a payload is refused; it ended the goal. Words of more than 200 bytes lie in the store, words that wait have 16 KiB at most, and those of the open cycle count among the 50 that may wait.',
  },
  clearedDoubts: {
    since: 12,
    why: 'The yes of a person to an effect in doubt begins a pass: a goal that is done pays for no other cycle. A no ends the goal, whatever else is asked. No answer takes effect while a message is stored: both would write the memory.',
  },
  approvedBrief: {
    since: 12,
    why: 'A cycle begins with the brief that a person approved, whatever release of a worker registers the cycle. Where that brief is gone the person is asked about the new one.',
  },
  unpaidJudges: {
    since: 12,
    why: 'A judge or reviewer that is left out for want of money is a warning, and a judge that the money pays is asked all the same.',
  },
  answeredUnknowns: {
    since: 12,
    why: 'The word of a person in place of a judge holds until the next cycle ends, and an expired question in place of a judge or reviewer is no answer: the goal ends.',
  },
  toldReviewCosts: {
    since: 13,
    why: 'A review tells the cost of all that judges and the reviewer were asked since the review before.',
  },
  toldRaises: {
    since: 13,
    why: 'A budget that an answer raises is told like one that a message sets.',
  },
  returnedWords: {
    since: 14,
    why: 'People whose words a cycle without a reply gives back do not decide on the next cycle, whose brief has those words.',
  },
  askedWhilePaused: {
    since: 15,
    why: 'A pause lets cycle and pass end: people whose word is all that a goal lacks are asked behind that pass, not after the goal is resumed.',
  },
  unknownsAskedAgain: {
    since: 15,
    why: 'A judge that gave no answer is asked again in the next pass, three times in all, also where its evidence is the same: an outage of its model kept a goal from being done.',
  },
  checksQueued: {
    since: 19,
    why: 'A check goes to the task queue that its tool names, or needs for its sandbox; nobody who serves that queue for `unavailableMs` makes the check unknown.',
  },
} as const satisfies { readonly [name: string]: Change };
