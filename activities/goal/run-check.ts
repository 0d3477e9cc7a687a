/**
 * run_check: the goal runs one of its checks, a read tool with a fixed input.
 * Invariants: only the frozen tool runs, and only as a read; no model and no cycle has a word in it; what it gave is
 * kept whole under its sha256, which is its receipt; a check that gives nothing twice is unknown, never an error.
 */
import { CancelledFailure } from '@temporalio/common';
import type { Tool } from '../../authoring/index.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../../core/json/json-depth.js';
import { callDigest, INLINE_BYTES_MAX, type Json } from '../../core/json/json.js';
import type { ExecuteToolInput, ToolOutcome } from '../../core/state/effect.js';
import type { StoredCheck, StoredDefinition } from '../../core/state/goal/definition.js';
import type { RunCheckInput, RunCheckOutput } from '../../core/state/goal/payloads.js';
import { heldByCheck, measured } from '../../pure/goal/conditions.js';
import type { ActivityDeps } from '../deps.js';
import { isCheckTool } from '../../authoring/goal/define-goal.js';
import { withServerTools } from '../connectors/server-tools.js';
import { findCode } from '../lacking-code.js';
import { appendEvents } from '../run/append-events.js';
import type { Scope } from '../scope.js';
import { writePatiently } from '../store-away.js';
import { codeOf } from '../tool/code-of.js';
import { executeRead } from '../tool/execute-read.js';
import { startMeter } from '../tool/tool-cost.js';
import { storedJson } from './stored-json.js';

const ATTEMPTS_MAX = 2;
const BECAUSE_CHARS_MAX = 500;

type Result = Omit<RunCheckOutput, 'eventsUpTo'>;

export async function runCheck(
  deps: ActivityDeps,
  scope: Scope,
  input: RunCheckInput,
): Promise<RunCheckOutput> {
  const eventsUpTo = await appendEvents(deps.store, scope, input);
  const definition = await storedJson<StoredDefinition>(deps.store, input, input.definition);
  const check = definition.validation?.find(({ name }) => name === input.name);
  if (check === undefined) return { ...unknown('The goal has no such check.'), eventsUpTo };
  const found = await toolOf(deps, scope, { input, check });
  if ('known' in found) return { ...found, eventsUpTo };
  const outcome = await read(deps, scope, { input, check, tool: found.tool });
  if (outcome.kind !== 'ok') return { ...unknown(told(outcome)), eventsUpTo };
  const { content } = outcome;
  const kept = await writePatiently(deps, scope, async () => {
    const text = await deps.store.getText(input.run.tenant, content);
    return { text, digest: (await deps.store.putBlob(input.run.tenant, text)).$blob };
  });
  return { ...judged(definition, check, kept), eventsUpTo };
}

interface CheckToRun {
  readonly input: RunCheckInput;
  readonly check: StoredCheck;
}

/** The code that was frozen, or why the check is unknown. Throws when another worker may have it. */
async function toolOf(
  deps: ActivityDeps,
  scope: Scope,
  { input, check: { frozen } }: CheckToRun,
): Promise<{ readonly tool: Tool } | Result> {
  const { unservedMs } = input;
  const { name, version, schemaHash } = frozen;
  const wanted = {
    tool: name,
    toolVersion: version,
    schemaHash,
    ...(unservedMs !== undefined && { unservedMs }),
  };
  const known = await withServerTools(deps, input.run.tenant, [frozen]);
  const code = await findCode(known, scope, wanted);
  switch (code.kind) {
    case 'elsewhere':
      throw code.refusal;
    case 'changed':
      return changed(schemaHash, code.schemaHash);
    case 'nowhere': {
      const other = codeOf(deps.config, frozen)?.record.schemaHash;
      return other === undefined || other === schemaHash
        ? unknown('tool_unavailable')
        : changed(schemaHash, other);
    }
    case 'here': {
      return isCheckTool(code.tool)
        ? { tool: code.tool }
        : unknown(`The tool ${name} is no read tool any more.`);
    }
  }
}

function changed(frozen: string, served: string): Result {
  const because = `The tool is served with schema ${served}, and ${frozen} was frozen.`;
  return { ...unknown(because), changed: [frozen, served] };
}

async function read(
  deps: ActivityDeps,
  scope: Scope,
  { input, check, tool }: CheckToRun & { readonly tool: Tool },
): Promise<ToolOutcome> {
  const { input: args = {}, frozen } = check;
  const parsed = tool.parse(args);
  if (!parsed.ok) return { kind: 'error', code: 'invalid_arguments', message: parsed.message };
  const run = tool.record.sandbox === 'required' ? tool.sandboxRun : tool.run;
  if (run === undefined) {
    const message = `${frozen.name} may run in its sandbox only, and it has none.`;
    return { kind: 'error', code: 'permission_denied', message };
  }
  const runnable = { tool: { ...tool, run }, input: parsed.value };
  const reading = readInput(input, check);
  const meter = startMeter(reading);
  let outcome: ToolOutcome | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX && outcome?.kind !== 'ok'; attempt += 1) {
    ({ outcome } = await executeRead(deps, scope, { input: reading, runnable, meter }));
    if (scope.stopRequested()) throw new CancelledFailure('The goal wants this no more.');
  }
  return outcome ?? { kind: 'error', code: 'not_executed', message: 'The check did not run.' };
}

/** A failure is its answer: how often the check runs is decided here. */
function readInput({ run, name, n, timeoutMs }: RunCheckInput, check: StoredCheck) {
  const { frozen, input: args = {} } = check;
  const { name: tool, version: toolVersion } = frozen;
  const digest = callDigest({ tool, toolVersion, args });
  const id = `check/${name}/${n}`;
  const key = `${run.runId}:${id}`;
  const reading: ExecuteToolInput = {
    v: 1,
    run,
    call: { callId: id, callKey: id, key, tool, toolVersion, args, digest, attempt: 1 },
    grant: { basis: 'tool', reference: id, digest, policyVersion: '', approvedBy: [] },
    timeoutMs,
    inlineBytesMax: INLINE_BYTES_MAX,
    maxRetries: 0,
    events: [],
  };
  return reading;
}

interface Kept {
  readonly text: string;
  /** sha256 of the text. */
  readonly digest: string;
}

function judged(definition: StoredDefinition, check: StoredCheck, { text, digest }: Kept): Result {
  const result = jsonOf(text);
  const held = heldByCheck(definition.done, check.name, result);
  const { measure } = check;
  if (measure === undefined) return { known: true, held, digest };
  const value = measured(result, measure.path);
  if (value !== undefined) return { known: true, held, digest, value };
  return { known: true, held, digest, because: `The result has no number at ${measure.path}.` };
}

/** What is no JSON is a text; what nests too deeply is nothing that could be looked into. */
function jsonOf(text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    return depthOf(value) > SHAPE_DEPTH_MAX ? null : value;
  } catch {
    return text;
  }
}

function told(outcome: Exclude<ToolOutcome, { kind: 'ok' }>): string {
  if (outcome.kind === 'input_required')
    return 'The server of the tool asks a person, and a check asks nobody.';
  if (outcome.kind === 'error') return `${outcome.code}: ${outcome.message}`;
  return 'message' in outcome ? outcome.message : outcome.kind;
}

function unknown(because: string): Result {
  return { known: false, held: [], because: because.slice(0, BECAUSE_CHARS_MAX) };
}
