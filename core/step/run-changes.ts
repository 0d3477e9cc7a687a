/** Changes of meaning of a single run, its calls and its messages (changes.ts), of the newest rules, by name. */
export const RUN_CHANGES = {
  quickReads: {
    since: 18,
    why: 'A tool that is declared quick is tried within the task that decides: one attempt of at most a second; without an answer the call goes on as an ordinary activity.',
  },
  clientMessageIds: {
    since: 19,
    why: 'The event of a message of the user names the id that its sender gave the message.',
  },
  unpricedModels: {
    since: 19,
    why: 'A model that a person names while the run goes on may lack prices where the money of the run is unlimited, as a model that a start names may.',
  },
  limitsBeforeAsk: {
    since: 19,
    why: 'A call of whose limits nothing is left is refused before anybody is asked, as its claim would refuse it; its result counts as that of the claim.',
  },
  quickInTime: {
    since: 20,
    why: 'A call is tried quickly only in a task that begins within five seconds after an effect has worked: a later one may be a task whose worker a quick read took down.',
  },
  waitsAnew: {
    since: 21,
    why: 'A run that waits for people at the end of a long segment waits in a new one: whoever answers has a worker replay a few events.',
  },
  briefPayloads: {
    since: 22,
    why: 'The payloads of activities leave out what their other parts, the first event of the run or a constant say, and the first event tells the route that the run begins with.',
  },
  openedWithin: {
    since: 23,
    why: 'A run is opened within its first task where that takes at most a second and asks nobody outside; else by an ordinary activity. The code that decided the first step says by its name whether it knows this.',
  },
  startShown: {
    since: 23,
    why: 'A run whose start has shown its status, agent and tenant does not show them again. The code that decided the first step says by its name whether it knows this.',
  },
  endShown: {
    since: 23,
    why: 'How a run ended is shown with its end, when it is stored: an own showing before costs the server a write. A stop by a person, and the end of a run that showed that it waits, are shown before.',
  },
  nothingDoneHeard: {
    since: 24,
    why: 'A word or a finding that a call did nothing counts also after its last attempt, and on a queue that nobody serves: its result says that nothing was done, where it said that nobody knows. A fork keeps the doubt of attempts of the recorded run whose key it does not know.',
  },
  resumable: {
    since: 24,
    why: 'A run that a person stopped, and that keeps no session, is not told to resume one.',
  },
  parentsKey: {
    since: 25,
    why: 'A fork asks a person what became of a call of its parent, by the key that the call had there. Before, a fork named its own key, under which nothing ran, and asked the ledger and the tool about that. The code that decided the first step says by its name whether it knows this.',
  },
  amountsInWords: {
    since: 25,
    why: 'The question of a run for more of a budget names the budget in words, money in dollars and time in seconds, where it named fields, micro-USD and milliseconds.',
  },
  doubtfulRepeats: {
    since: 25,
    why: 'The question whether a call is made once more says "may already have been done" where one of the earlier calls is under way or in doubt; it said that all were done.',
  },
} as const;
