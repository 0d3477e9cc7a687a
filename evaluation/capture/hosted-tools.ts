/** Tools that the model's vendor ran itself, as tools that the scripted model of a case runs. */
import type { Json } from '../../core/json/json.js';
import type { HostedCall } from '../../core/state/model.js';
import type { ToolRecord } from '../../core/state/tool.js';
import type { WrittenTool } from '../convert-tools.js';
import type { WrittenResult } from '../format/tools.js';
import { approvalOf } from './approval.js';
import { ofKind, outputOf, type Recording } from './recording.js';
import type { Texts } from './texts.js';

/** What came of its uses stands in the order in which the replies told of them. */
export function hostedTool(
  recording: Recording,
  { name, effect, version, approval }: ToolRecord,
  { description, texts }: { readonly description: string; readonly texts: Texts },
): WrittenTool {
  const uses = ofKind(recording, 'call_model')
    .flatMap(({ activity }) => outputOf(activity, 'call_model')?.reply.hosted?.calls ?? [])
    .filter(({ tool }) => tool === name);
  return {
    kind: 'hosted',
    description,
    effect,
    version,
    approval: approvalOf(approval),
    results: uses.map((use) => resultOf(use, texts)),
  } as WrittenTool;
}

function resultOf({ isError, content }: HostedCall, texts: Texts): WrittenResult {
  const text = texts.text(content);
  return isError ? { error: text } : { ok: JSON.parse(text) as Json };
}
