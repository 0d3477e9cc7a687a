/**
 * Every change of meaning of the core, numbered. A run keeps the number that its segment began with, so
 * code branches on `run.rules`, and a recorded history replays by the rules it was made with (design §6).
 */
const RULES_HISTORY = [{ rules: 1, release: '0.1.0', reason: 'The first rule set.' }] as const;

/** The newest rule set this code knows. A run with a greater number was made by a newer release. */
export const RULES_VERSION: number = RULES_HISTORY[RULES_HISTORY.length - 1]!.rules;
