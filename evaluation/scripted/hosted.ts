/** Tools of a case that its model runs itself: what they answer comes from the same scripts as of any other. */
import { defineHostedTool, type Tool } from '../../authoring/index.js';
import type { Json } from '../../core/json/json.js';
import { wireNameOf } from '../../core/state/tool.js';
import type { ToolOffer } from '../../core/state/transcript.js';
import type { HostedUse } from '../../providers/provider.js';
import { resultOf, type CaseTool } from '../fixture.js';
import type { ScriptedCall } from '../script.js';
import { approvalOf } from './approval.js';
import { argumentsOf } from './replies.js';

/** Declared for the provider of the case; what it costs is in the scripted usage. */
export function hostedTool(provider: string, declared: CaseTool): Tool {
  const { name, version, effect, description, approval } = declared;
  return defineHostedTool({
    name,
    version,
    effect,
    description,
    ...(approval !== undefined && { approval: approvalOf(approval) }),
    provider,
    declaration: { type: 'scripted', name: wireNameOf(name) },
    bound: { inputTokens: 0, uses: 0, feeMicroUsd: 0 },
  });
}

type Ran = Omit<HostedUse, 'id'>;

/** Runs what is offered. A call that is streamed again, after a worker's death for instance, answers the same. */
export class HostedRuns {
  private readonly answers = new Map<string, Ran>();

  constructor(private readonly tools: ReadonlyMap<string, CaseTool>) {}

  run(call: ScriptedCall, offers: readonly ToolOffer[]): Ran | undefined {
    const offer = offers.find(({ name, hosted }) => name === call.tool && hosted !== undefined);
    const declared = this.tools.get(call.tool);
    if (offer === undefined || declared === undefined) return undefined;
    const known = this.answers.get(call.id);
    if (known !== undefined) return known;
    const before = [...this.answers.values()].filter(({ tool }) => tool === offer.wireName);
    const args = argumentsOf(call);
    const answer = { tool: offer.wireName, args, ...answerOf(declared, before.length, args) };
    this.answers.set(call.id, answer);
    return answer;
  }
}

function answerOf(tool: CaseTool, index: number, args: Json): Pick<Ran, 'isError' | 'result'> {
  const result = resultOf(tool, index);
  if (result === undefined) return { isError: false, result: { echo: args } };
  if (result.kind === 'ok') return { isError: false, result: result.value };
  return { isError: true, result: { error: result.kind } };
}
