/** A question as another agent is told it: what would be done and who may decide, nothing of the inside. */
const FIELDS = [
  'askId',
  'runId',
  'root',
  'agentPath',
  'kind',
  'tool',
  'args',
  'argsHash',
  'question',
  'rolesNow',
  'quorum',
  'requestedBy',
  'openedAt',
  'expiresAt',
  'outcome',
  'by',
  'reason',
  'resolvedAt',
  'repeats',
  'limits',
  'card',
  'elicitation',
] as const;

export function askTold(ask: object): object {
  const given = ask as Readonly<Record<string, unknown>>;
  const told = FIELDS.filter((name) => given[name] !== undefined);
  return Object.fromEntries(told.map((name) => [name, given[name]]));
}
