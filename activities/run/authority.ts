/** What a run may hand on to sub-agents: written once, when the run is opened, and read for each sub-agent. */
import { canonicalJson, type Json } from '../../core/json/json.js';
import { isAllowedUnseen, isShown } from '../../core/permission/permission.js';
import type { RunRef } from '../../core/state/effect.js';
import type { Frozen } from '../../core/state/frozen.js';
import type { StoredAuthority } from '../../core/state/sub-agent.js';
import { toolKey } from '../../core/state/tool.js';
import type { StoreCalls } from '../../store/store.js';
import type { OpeningStart } from './bounds.js';

/** Its hash; undefined for a run without sub-agents. */
export async function writeAuthority(
  store: Pick<StoreCalls, 'putBlob'>,
  { run, start }: { readonly run: RunRef; readonly start: OpeningStart },
  frozen: Frozen,
): Promise<string | undefined> {
  if (frozen.agents === undefined) return undefined;
  const { settings, policy, hooks, hookMatches, within = [] } = frozen;
  const shown = frozen.tools.filter(
    (tool) =>
      isShown({ task: start.task, settings }, tool) &&
      // A hosted one runs without a question: only what the run itself sees is handed on.
      (tool.kind !== 'hosted' || isAllowedUnseen({ frozen }, tool)),
  );
  const authority: StoredAuthority = {
    v: 1,
    tools: Object.fromEntries(shown.map((record) => [record.name, toolKey(record)])),
    policy,
    allowedTools: settings.allowedTools,
    disallowedTools: settings.disallowedTools,
    allowBypassPermissions: settings.allowBypassPermissions,
    requireProof: settings.requireProof,
    hooks: hooks.PreToolUse ?? [],
    ...(hookMatches !== undefined && { hookMatches }),
    within,
  };
  return (await store.putBlob(run.tenant, canonicalJson(authority as unknown as Json))).$blob;
}
