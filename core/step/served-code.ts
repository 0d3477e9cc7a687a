/**
 * What effects need of a worker's code, and for how long that is waited for (G118).
 * Invariant: a tool's code is that of the schema which the run began with, or which it has adopted since because no
 * worker served the first one any more (G110); a person who had approved is asked again.
 */
import { follows } from './changes.js';
import { ownValue } from '../json/json.js';
import { warn } from './outbox.js';
import type { NeedsCode, NeedsTool } from '../state/payloads/payload.js';
import type { OpenRun } from '../state/run.js';
import { DEFAULT_SETTINGS } from '../state/settings.js';
import { toolKey, type ToolRecord } from '../state/tool.js';

/** Of an effect that needs code: none under older rules, whose effects fail where the code lacks. */
export function unservedLimit(run: OpenRun): NeedsCode {
  if (!follows(run, 'waitForCode')) return {};
  // A run that an older release opened has frozen none.
  const { unservedTimeoutMs } = { ...DEFAULT_SETTINGS, ...run.frozen.settings };
  return { unservedMs: unservedTimeoutMs };
}

/** Of an effect that needs the code of a tool. */
export function codeOf(run: OpenRun, name: string): NeedsTool {
  const schemaHash = schemaOf(run, name);
  if (schemaHash === undefined || !follows(run, 'waitForCode')) return {};
  return { schemaHash, ...unservedLimit(run) };
}

/** Workers serve another schema under the same version: from now on it is the run's. */
export function adoptSchema(run: OpenRun, name: string, schemaHash: string): OpenRun {
  const tool = frozenTool(run, name);
  const before = schemaOf(run, name);
  if (tool === undefined || before === schemaHash) return run;
  const words = `workers serve ${toolKey(tool)} with schema ${schemaHash}; the run had ${before}`;
  const adopted = { ...run, schemas: { ...run.schemas, [name]: schemaHash } };
  return warn(adopted, 'tool_schema_changed', words);
}

function schemaOf(run: OpenRun, name: string): string | undefined {
  return ownValue(run.schemas ?? {}, name) ?? frozenTool(run, name)?.schemaHash;
}

function frozenTool(run: OpenRun, name: string): ToolRecord | undefined {
  return run.frozen.tools.find((tool) => tool.name === name);
}
