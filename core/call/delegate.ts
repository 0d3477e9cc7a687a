/**
 * A granted call of a sub-agent becomes a run of its own: what it may cost is reserved, its row is written, it is started.
 * Invariants: nothing of a sub-agent starts before its slice is reserved and its row is in the store; a call that cannot
 * have its sub-agent gets a result at once.
 */
import { reserve } from '../money/budget.js';
import { modeOf } from '../permission/permission.js';
import type { Call, DelegatedStage, GrantedStage } from '../state/call.js';
import { refOf, type ActivityEffect } from '../state/effect.js';
import type { OpenRun, Step } from '../state/run.js';
import type { RunChild } from '../state/run-child.js';
import type { Lineage, SubAgent } from '../state/sub-agent.js';
import type { ToolRecord } from '../state/tool.js';
import { follows } from '../step/changes.js';
import { storeWork } from '../step/clock.js';
import { nextId, start, STORE_LIMITS } from '../step/inflight.js';
import { refusalOf } from './refusal.js';
import {
  baseOf,
  keyOf,
  refuse,
  wasHandedOver,
  withCall,
  type StationResult,
} from '../step/open-work.js';
import { emit } from '../step/outbox.js';
import {
  budgetOf,
  lineageOf,
  namedAgents,
  sliceFor,
  subAgentOf,
  type Slice,
} from './child-slice.js';
import { settleCall } from './result.js';
import { knownBelow } from './tell-below.js';

/** Run ids have at most 128 characters; that of a sub-agent is its parent's with a number. */
const PARENT_CHARS_MAX = 120;
/** Numbers that turn out to be taken by earlier sub-agents of the same run. */
const PASSED_MAX = 20;

export function delegate(run: OpenRun, call: GrantedStage, tool: ToolRecord): StationResult {
  const { name, agent } = subAgentOf(run, tool, call.args);
  if (!follows(run, 'subAgents'))
    return refuse('tool_unavailable', 'This run starts no sub-agents.');
  if (agent === undefined || run.frozen.authority === undefined) {
    const known = namedAgents(run).join(', ');
    const hint = known === '' ? 'This run may start none.' : `There are: ${known}.`;
    return refuse(
      'invalid_arguments',
      `There is no sub-agent ${JSON.stringify(name.slice(0, 64))}. ${hint}`,
    );
  }
  const { children = [] } = run;
  const { limits, path } = lineageOf(run);
  if (path.length > limits.depth) {
    return refuse(
      'tool_not_allowed',
      `Sub-agents may start none here: the tree is ${limits.depth} deep.`,
    );
  }
  if (run.runId.length > PARENT_CHARS_MAX) {
    return refused(run, call, {
      code: 'execution_error',
      message: 'The id of this run is too long for one with sub-agents.',
    });
  }
  if (children.length >= limits.atOnce) return { kind: 'wait' };
  if ((run.childrenStarted ?? 0) >= limits.inAll)
    return refused(run, call, { code: 'budget_exceeded', message: USED_UP });
  const slice = sliceFor(run, call, agent);
  if (slice === undefined) {
    const wants = agent.budget?.maxCostMicroUsd;
    const what = typeof wants === 'number' ? `its ${wants} micro-USD` : 'anything';
    return refused(run, call, {
      code: 'budget_exceeded',
      message: `Not started: what is left of the budget does not pay ${what}.`,
    });
  }
  return { kind: 'moved', step: prepare(run, call, { name, agent, slice }) };
}

const USED_UP = 'Not started: this run has had as many sub-agents as it may have.';

interface NotStarted {
  readonly code: 'budget_exceeded' | 'execution_error';
  readonly message: string;
}

function refused(run: OpenRun, call: Call, why: NotStarted): StationResult {
  const settled = settleCall(run, call, refusalOf(run, call, why));
  return { kind: 'moved', step: { run: settled, effects: [] } };
}

interface Delegation {
  readonly name: string;
  readonly agent: SubAgent;
  readonly slice: Slice;
}

function prepare(run: OpenRun, call: GrantedStage, delegation: Delegation): Step<OpenRun> {
  const n = (run.childrenStarted ?? 0) + 1;
  const child = `${run.runId}:a${n}`;
  const announced = announce(run, call, child);
  const { name, agent, slice } = delegation;
  const begun = start(announced, 'prepare_child', (id, events): ActivityEffect => ({
    kind: 'prepare_child',
    id,
    input: {
      v: 1,
      run: refOf(run),
      child,
      n,
      name,
      agent,
      call: {
        tool: call.tool,
        toolVersion: call.toolVersion,
        args: call.args,
        digest: call.digest,
        id: call.id,
      },
      authority: run.frozen.authority ?? '',
      mode: modeOf(run),
      lineage: lineageFor(run, call, name),
      slice: budgetOf(run, agent, slice),
      ...(run.start.task.caller !== undefined && { caller: run.start.task.caller }),
      unservedMs: run.frozen.settings.unservedTimeoutMs,
      events,
    },
    limits: storeWork(run, STORE_LIMITS),
    summary: `${call.tool} ${name}`,
  }));
  const effectId = nextId(announced, 'prepare_child');
  const handed = handOver(begun.run, call, { name, slice, child, n, effectId });
  return { run: handed, effects: begun.effects };
}

/** Counted and told once, whatever number it gets in the end. */
function announce(run: OpenRun, call: GrantedStage, child: string): OpenRun {
  if (wasHandedOver(call)) return run;
  const tally = { ...run.tally, toolCalls: run.tally.toolCalls + 1 };
  const { id: callId, tool, args } = call;
  const told = { type: 'tool_started', callId, tool, key: keyOf(run, call), args, child } as const;
  return emit({ ...run, tally }, told);
}

interface HandedOver extends Omit<Delegation, 'agent'> {
  readonly child: string;
  readonly n: number;
  readonly effectId: string;
}

/** Its money is reserved under its id, and the call waits for it. */
function handOver(run: OpenRun, call: GrantedStage, given: HandedOver): OpenRun {
  const { name, child, n, effectId } = given;
  const { costMicroUsd, inputTokens, outputTokens } = given.slice;
  const opened: RunChild = {
    child,
    n,
    name,
    index: call.index,
    stage: 'preparing',
    due: false,
    effectId,
    startedAt: run.now,
    ...(costMicroUsd !== undefined && { sliceMicroUsd: costMicroUsd }),
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...knownBelow(run),
  };
  const delegated: DelegatedStage = {
    ...baseOf(call),
    stage: 'delegated',
    handedOver: true,
    grant: call.grant,
    child,
    startedAt: run.now,
  };
  const children = [...(run.children ?? []), opened];
  const handed = withCall({ ...run, childrenStarted: n, children }, delegated);
  return costMicroUsd === undefined ? handed : reserve(handed, child, costMicroUsd);
}

function lineageFor(run: OpenRun, call: Call, name: string): Lineage {
  const { root, path, limits } = lineageOf(run);
  return { root, path: [...path, name], call: call.id, limits };
}

/** A number that an earlier sub-agent of this run has: the next one is tried. */
export function withNextNumber(run: OpenRun, call: DelegatedStage): OpenRun | undefined {
  const passed = (call.passed ?? 0) + 1;
  if (passed > PASSED_MAX) return undefined;
  return withCall(run, {
    ...baseOf(call),
    stage: 'granted',
    grant: call.grant,
    passed,
  });
}
