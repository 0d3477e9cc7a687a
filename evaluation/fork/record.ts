/** A bundle in a store of its own, and what its tools that change nothing answered. */
import { ownValue } from '../../core/json/json.js';
import type { Json } from '../../core/json/json.js';
import { hasEffects } from '../../core/loop/fork-beginning.js';
import type { ToolOutcome } from '../../core/state/effect.js';
import type { TranscriptNode } from '../../core/state/transcript.js';
import type { RunFold } from '../../recording/fold.js';
import type { Bundle } from '../../replay/bundle.js';
import type { StoreCalls } from '../../store/store.js';

/** Conversation and texts of the bundle, under the tenant of its run. */
export async function fillStore(
  store: Pick<StoreCalls, 'putNode' | 'putBlob'>,
  { run: { tenant }, blobs, nodes }: Pick<Bundle, 'run' | 'blobs' | 'nodes'>,
): Promise<void> {
  for (const text of Object.values(blobs)) await store.putBlob(tenant, text);
  for (const node of parentsFirst(nodes)) {
    await store.putNode(tenant, node);
  }
}

interface RecordedAnswer {
  readonly outcome: ToolOutcome;
  readonly isRecorded: boolean;
}

/** Answers by tool and arguments: each is given once, the last one again and again. */
export class RecordedReads {
  private readonly byDigest = new Map<string, ToolOutcome[]>();

  constructor(fold: RunFold) {
    for (const { step, inputs } of fold.steps) {
      if (!inputs.some(({ type }) => type === 'tool_returned')) continue;
      const { before, given } = fold.at(step);
      for (const input of given) {
        if (input.type !== 'tool_returned') continue;
        const call = before.turn?.calls.find(
          (one) => one.stage === 'executing' && one.effectId === input.id,
        );
        const { outcome } = input.output;
        if (call === undefined || hasEffects(before, call.tool)) continue;
        if (outcome.kind === 'ok' || outcome.kind === 'error') this.add(call.digest, outcome);
      }
    }
  }

  answerTo({ tool, digest, args }: { tool: string; digest: string; args: Json }): RecordedAnswer {
    const [next, ...rest] = this.byDigest.get(digest) ?? [];
    if (rest.length > 0) this.byDigest.set(digest, rest);
    if (next !== undefined) return { outcome: next, isRecorded: true };
    const message = notRecorded(tool, args);
    return { outcome: { kind: 'error', code: 'execution_error', message }, isRecorded: false };
  }

  private add(digest: string, outcome: ToolOutcome): void {
    this.byDigest.set(digest, [...(this.byDigest.get(digest) ?? []), outcome]);
  }
}

const ARGS_CHARS = 200;

function notRecorded(tool: string, args: Json): string {
  return `not_recorded: the record has no answer of ${tool} to ${JSON.stringify(args).slice(0, ARGS_CHARS)}.`;
}

/** A store takes no message before the one that it follows, and exports write messages in the order of their hashes. */
function parentsFirst(nodes: Bundle['nodes']): readonly TranscriptNode[] {
  const placed = new Set<string>();
  const ordered: TranscriptNode[] = [];
  for (const hash of Object.keys(nodes)) {
    const chain: TranscriptNode[] = [];
    for (let next: string | null = hash; next !== null && !placed.has(next);) {
      placed.add(next);
      const node = ownValue(nodes, next) as unknown as TranscriptNode | undefined;
      if (node === undefined) break;
      chain.push(node);
      next = node.parent;
    }
    for (const node of chain.toReversed()) ordered.push(node);
  }
  return ordered;
}
