/** Of what several say of one call: the strictest word counts. */
interface Said {
  readonly decision: 'allow' | 'sandbox' | 'ask' | 'deny';
  readonly sandbox?: true;
}

const STRICTNESS: { readonly [decision in Said['decision']]: number } = {
  allow: 0,
  sandbox: 1,
  ask: 2,
  deny: 3,
};

export function strictestOf<S extends Said>(own: S, others: readonly S[]): S {
  const strictest = others.reduce(
    (most, said) => (STRICTNESS[said.decision] > STRICTNESS[most.decision] ? said : most),
    own,
  );
  // A question is stricter than a sandbox, and takes no word for one away.
  const inSandboxOnly = [own, ...others].some(
    ({ decision, sandbox }) => decision === 'sandbox' || sandbox === true,
  );
  return strictest.decision === 'ask' && inSandboxOnly
    ? { ...strictest, sandbox: true }
    : strictest;
}
