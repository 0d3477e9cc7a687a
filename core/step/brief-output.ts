/**
 * What activities answer to a brief payload, as histories have it: without what is mostly so.
 * Invariant: `wholeOutput` gives back what `briefOutput` was given, and leaves a whole output as it is.
 */
import { BRIEF_VERSION } from '../state/payloads/payload.js';
import type {
  ActivityKind,
  CallModelOutput,
  ExecuteToolOutput,
  OutputOf,
} from '../state/effect.js';
import type { CallCheck, ProposedCall, Usage } from '../state/model.js';

type Lean<Value, Fields extends keyof Value> = Omit<Value, Fields> & Partial<Pick<Value, Fields>>;

interface BriefReply extends Omit<CallModelOutput['reply'], 'calls' | 'usage'> {
  readonly usage: Lean<Usage, 'cacheRead' | 'cacheWrite'>;
  readonly calls: readonly Lean<ProposedCall, 'check'>[];
}

type BriefCallModelOutput = Lean<
  Omit<CallModelOutput, 'reply'>,
  'attempts' | 'lostCostMicroUsd'
> & { readonly reply: BriefReply };

/** The answer to a payload of this version. */
export function briefOutput(kind: string, version: number, output: object): object {
  if (version !== BRIEF_VERSION) return output;
  if (kind === 'execute_tool') return withoutUsual(output as ExecuteToolOutput);
  if (kind !== 'call_model') return output;
  const { attempts, lostCostMicroUsd, reply, ...rest } = output as CallModelOutput;
  const brief: BriefCallModelOutput = {
    ...rest,
    reply: briefReply(reply),
    ...(attempts !== 1 && { attempts }),
    ...(lostCostMicroUsd !== 0 && { lostCostMicroUsd }),
  };
  return brief;
}

function withoutUsual({ attempts, ...rest }: ExecuteToolOutput): object {
  return attempts === 1 ? rest : { ...rest, attempts };
}

function briefReply({ calls, usage, ...reply }: CallModelOutput['reply']): BriefReply {
  const { cacheRead, cacheWrite, ...counted } = usage;
  return {
    ...reply,
    calls: calls.map(({ check, ...call }) => (isPlainOk(check) ? call : { ...call, check })),
    usage: {
      ...counted,
      ...(cacheRead !== 0 && { cacheRead }),
      ...(cacheWrite !== 0 && { cacheWrite }),
    },
  };
}

function isPlainOk(check: CallCheck): boolean {
  return check.ok && Object.keys(check).length === 1;
}

const OK: CallCheck = { ok: true };

export function wholeOutput<Kind extends ActivityKind>(
  kind: Kind,
  output: OutputOf<Kind>,
): OutputOf<Kind> {
  if (kind === 'execute_tool') return { attempts: 1, ...output };
  if (kind !== 'call_model') return output;
  const { reply, ...rest } = output as unknown as BriefCallModelOutput;
  const { calls, usage }: Partial<BriefReply> = reply ?? {};
  // Not one of an activity of ours: whoever reads it says so.
  if (!Array.isArray(calls) || typeof usage !== 'object') return output;
  const whole: CallModelOutput = {
    attempts: 1,
    lostCostMicroUsd: 0,
    ...rest,
    reply: {
      ...reply,
      calls: (calls as BriefReply['calls']).map((call) => ({ check: OK, ...call })),
      usage: { cacheRead: 0, cacheWrite: 0, ...usage },
    },
  };
  return whole as unknown as OutputOf<Kind>;
}
