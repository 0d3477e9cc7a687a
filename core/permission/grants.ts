/**
 * Standing grants: one approval that also covers later calls of the same kind (G13).
 *
 * Invariants:
 *  N1 Off unless the run's settings allow them; never more than the matcher says, so often, for so long.
 *  N2 A grant is for the tool that was asked about and names at least one argument: consent to anything
 *     is not consent.
 *  N3 Audited: the answer that made it tells it, each use names it.
 */
import { follows } from '../step/changes.js';
import type { Json } from '../json/json.js';
import { holds } from '../json/condition.js';
import type { OpenRun, Run } from '../state/run.js';
import type { Ask } from '../state/ask.js';
import type { StandingGrant, GrantView } from '../state/grant.js';

/** Those that still hold. */
export const GRANTS_MAX = 20;

/** Why this ask cannot be answered with a grant for that tool; undefined: it can. */
export function objectionToGrant(run: Run, ask: Ask, tool: string): string | undefined {
  if (run.frozen?.settings.allowStandingGrants !== true) return 'this run takes no standing grants';
  if (ask.kind !== 'approval') return 'only an approval can carry a standing grant';
  if (ask.repeats !== undefined) return 'a repetition is allowed one at a time';
  if (ask.quorum > 1) return 'one person cannot grant what several have to approve';
  if (tool !== ask.tool) return `the question is about ${ask.tool ?? 'no tool'}`;
  if (counted(run).length >= GRANTS_MAX) return 'the run has too many standing grants';
  return undefined;
}

/** Whether an approval of this ask may cover later calls as well. */
export function takesGrant(run: Run, ask: Ask): boolean {
  return ask.tool !== undefined && objectionToGrant(run, ask, ask.tool) === undefined;
}

/** Those that may still cover a call, for whoever looks at the run. */
export function grantViews(run: Run): readonly GrantView[] {
  return live(run).map((grant) => {
    const { signed: _, ...shown } = grant;
    return shown;
  });
}

/** Makes the grant that came with the approval of this ask, if one did. */
export function withGrantOf(run: OpenRun, ask: Ask): OpenRun {
  const vote = ask.votes.find((one) => one.grant !== undefined);
  if (vote?.grant === undefined) return run;
  const { matcher, uses, expiresInMs } = vote.grant;
  const grant: StandingGrant = {
    id: ask.id,
    tool: matcher.tool,
    when: matcher.when,
    usesLeft: uses,
    expiresAt: run.now + expiresInMs,
    by: [vote.by],
    ...(vote.signed !== undefined && { signed: [vote.signed] }),
  };
  return { ...run, grants: [...live(run), grant] };
}

/** The oldest grant that covers a call now. */
export function grantFor(
  run: Pick<OpenRun, 'grants' | 'now'>,
  call: { readonly tool: string; readonly args: Json },
): StandingGrant | undefined {
  return live(run).find(
    (grant) => grant.tool === call.tool && grant.when.every((one) => holds(one, call.args)),
  );
}

/** One use less. */
export function useGrant(run: OpenRun, id: string): OpenRun {
  const used = live(run).map((grant) =>
    grant.id === id ? { ...grant, usesLeft: grant.usesLeft - 1 } : grant,
  );
  return { ...run, grants: used.filter((grant) => grant.usesLeft > 0) };
}

/** Those that the limit is about. */
function counted(run: Run): readonly StandingGrant[] {
  return follows(run, 'grantsThatHold') ? live(run) : (run.grants ?? []);
}

function live(run: Pick<Run, 'grants' | 'now'>): readonly StandingGrant[] {
  return (run.grants ?? []).filter((grant) => grant.expiresAt >= run.now);
}
