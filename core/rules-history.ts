/**
 * Every change of meaning of the core, numbered. A run keeps the number that its segment began with, so
 * code branches on `run.rules`, and a recorded history replays by the rules it was made with (design §6).
 */
const RULES_HISTORY = [
  { rules: 1, release: '0.1.0', reason: 'The first rule set.' },
  {
    rules: 2,
    release: '0.2.0',
    reason:
      'A result that is an error tells the model its code; calls start before the status says that the run goes on; session_init names the tools that the run offers.',
  },
  {
    rules: 3,
    release: '0.3.0',
    reason:
      'Whoever a run works for does not say whether its effects happened; a failed model call may say itself what to do next, and is called out of time only where nothing else is known of it; a reply whose calls its event cannot hold names the message that has them.',
  },
] as const;

/** What a run follows until its first activity says which rules it is to follow: that is in its history. */
export const FIRST_RULES = 1;

/** Runs of at least these rules put the code of an error beside its result. */
export const RULES_WITH_ERROR_CODES = 2;
/** Runs of at least these rules show that they go on when the calls that they start are back. */
export const RULES_WITH_CALLS_BEFORE_STATUS = 2;
/** Runs of at least these rules announce the tools that they offer, not those that their agent has. */
export const RULES_WITH_OFFERED_TOOLS = 2;
/** Runs of at least these rules ask others than their caller what became of an effect. */
export const RULES_WITH_OTHERS_WITNESS = 3;
/** Runs of at least these rules tell what a failed model call itself says is to be done. */
export const RULES_WITH_FAILURE_HINTS = 3;

/** Runs of at least these rules name a failed model call by its own error also where no time was left for another attempt. */
export const RULES_WITH_OWN_ERROR_FIRST = 3;

/** Runs of at least these rules name the message of a reply whose calls its event does not show whole. */
export const RULES_WITH_NAMED_REPLIES = 3;

/** Gives the number back, or throws: code that does not know a rule set must not decide by it. */
export function knownRules(rules: number): number {
  if (rules <= RULES_VERSION) return rules;
  throw new Error(
    `RulesTooNew: this run follows rules ${rules}, this worker knows ${RULES_VERSION}; deploy a newer worker`,
  );
}

/** The newest rule set this code knows. A run with a greater number was made by a newer release. */
export const RULES_VERSION: number = RULES_HISTORY[RULES_HISTORY.length - 1]!.rules;
