/** Changes of meaning that came with trees of runs, connectors and sandboxes (changes.ts), by name. */
export const TREE_CHANGES = {
  handoffs: {
    since: 15,
    why: 'An agent that names others in `handoffTo` hands its run over to one of them: the run goes on in a new segment under the definition of that agent. A call of kind `handoff` of any other agent escalates as before.',
  },
  sandboxQueues: {
    since: 15,
    why: 'Calls in a sandbox go to the sandbox queue of the run, where the worker that opened it named one and the tool names none; what finds out how such a call ended goes where the call went.',
  },
  rulesTold: {
    since: 15,
    why: 'The event of a stop names the rule that ended the run, and the first event the rules number, so that runs are found by them.',
  },
  connectorsTold: {
    since: 15,
    why: 'A connector that could not be reached at the opening is a warning, and a required one stops the run. A tool that its server describes otherwise than at the opening is stopped for the rest of the run.',
  },
  elicitation: {
    since: 15,
    why: 'A question that the server of a tool asks in the middle of a call is put to a person, and the call goes on with the answer.',
  },
  toldProgress: {
    since: 15,
    why: 'Events tell the progress that a tool, or its server, says of an execution; a few of each.',
  },
  mailbox: {
    since: 15,
    why: 'Letters that other runs of the tree write are read from the store and said to the model as data, before its next request.',
  },
  subAgents: {
    since: 15,
    why: 'A call of a sub-agent starts a run of its own: its money is reserved before, its outcome is the result of the call.',
  },
  toldBelow: {
    since: 16,
    why: 'A change of the permission mode and a message of the user go down to the open sub-agents of a run. A mode only takes away: what their ancestors began with counts as well.',
  },
  supervision: {
    since: 17,
    why: 'An agent that names a supervisor is looked at between two requests: the supervisor steers the run, interrupts it, or asks a person.',
  },
  heardEnds: {
    since: 18,
    why: 'The outcome of a sub-agent is taken from the end of its workflow, of which Temporal tells the segment that started it: no word of it and no activity reads it. In a later segment the sub-agent is told to say itself that it has ended.',
  },
  lettersStay: {
    since: 18,
    why: 'Letters that a run reads are not told to its open sub-agents, who took them for words of the user.',
  },
  handedRuns: {
    since: 18,
    why: 'A handoff whose declaration says so starts another run with what is left of the budgets, and the run that hands over ends `completed`, detail `handed_off`.',
  },
  moneyAbove: {
    since: 18,
    why: 'A sub-agent that may ask and has used up its money asks the run above it: that run gives what its own limit leaves, reserved before, else asks above itself, and the root asks a person.',
  },
} as const;
