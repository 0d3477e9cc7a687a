/**
 * Every change of meaning of the core, numbered. A run keeps the number that its segment began with, so
 * code branches on `run.rules`, and a recorded history replays by the rules it was made with (design §6).
 */
const RULES_HISTORY = [
  { rules: 1, release: '0.1.0', reason: 'The first rule set.' },
  { rules: 2, release: '0.2.0', reason: 'A result that is an error tells the model its code.' },
] as const;

/** What a run follows until its first activity says which rules it is to follow: that is in its history. */
export const FIRST_RULES = 1;

/** Runs of at least these rules put the code of an error beside its result. */
export const RULES_WITH_ERROR_CODES = 2;

/** Gives the number back, or throws: code that does not know a rule set must not decide by it. */
export function knownRules(rules: number): number {
  if (rules <= RULES_VERSION) return rules;
  throw new Error(
    `RulesTooNew: this run follows rules ${rules}, this worker knows ${RULES_VERSION}; deploy a newer worker`,
  );
}

/** The newest rule set this code knows. A run with a greater number was made by a newer release. */
export const RULES_VERSION: number = RULES_HISTORY[RULES_HISTORY.length - 1]!.rules;
