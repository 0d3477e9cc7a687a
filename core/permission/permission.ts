/**
 * May this call run, and who says so? Policy rules first, then `allowedTools`, then the tool record (G89);
 * the permission mode and standing grants act on what these say (G13, G16).
 *
 * Invariants:
 *  P1 A denial by policy holds in every mode and under every grant: deny beats allow (C48).
 *  P2 Effects that are never repeated are never waved through by `bypassPermissions`.
 *  P3 A hook can narrow what is allowed, never widen it.
 *  P4 Pure: deciding changes nothing, so that the same question may be asked again (G14).
 *  P5 A tool that is hidden or refused is never offered to the model (C9).
 */
import { holds } from '../json/condition.js';
import { ownValue, type Json } from '../json/json.js';
import type { CheckedStage } from '../state/call.js';
import type { Grant } from '../state/effect.js';
import type { CallOpinion } from '../state/hook.js';
import type { PermissionMode } from '../state/permission-mode.js';
import { matchesName, type Policy, type PolicyRule } from '../state/policy.js';
import type { OpenRun } from '../state/run.js';
import type { Settings } from '../state/settings.js';
import type { Authority } from '../state/sub-agent.js';
import type { Task } from '../state/task.js';
import { isMutating, type ToolRecord } from '../state/tool.js';
import { grantFor } from './grants.js';
import { modesOf } from './modes-above.js';
import { strictestOf } from './strictest.js';

export interface Permission {
  readonly decision: 'allow' | 'deny' | 'ask' | 'sandbox';
  /** `policy:<version>:<index>`, `tool`, `allowedTools`, `mode:<mode>`, `grant:<ask>` or `hook:<name>`. */
  readonly rule: string;
  readonly basis: Grant['basis'];
  /** Whose word an allowed call runs on; nobody's when the tool record needs none. */
  readonly approvedBy: readonly string[];
  /** Of a standing grant, where proofs are required: what the person signed who gave it. */
  readonly signed?: Grant['signed'];
  readonly reason?: string;
  readonly terminal: boolean;
  /** With 'ask': what is asked about runs in the sandbox once it is approved. */
  readonly sandbox?: true;
}

interface Action {
  readonly tool: ToolRecord;
  readonly args: Json;
  /** A hook wants a person's word on it. */
  readonly hookAsk?: CallOpinion['ask'];
}

/** What counts of a run; before it is open it has no more than what is frozen. */
export type Judged = Pick<OpenRun, 'frozen'> &
  Partial<Pick<OpenRun, 'now' | 'permissionMode' | 'modesAbove' | 'grants'>>;

export const UNASKABLE = 'This needs approval, and nobody may be asked.';

/** The mode that counts now. Without its unlock `bypassPermissions` is no more than the default. */
export function modeOf(run: Judged): PermissionMode {
  const { settings } = run.frozen;
  const mode = run.permissionMode ?? settings.permissionMode;
  return mode === 'bypassPermissions' && !settings.allowBypassPermissions ? 'default' : mode;
}

/** A call as its permission is decided on. */
export function actionOf(tool: ToolRecord, call: Pick<CheckedStage, 'args' | 'hooked'>): Action {
  const hookAsk = call.hooked?.ask;
  return { tool, args: call.args, ...(hookAsk !== undefined && { hookAsk }) };
}

/** Of a sub-agent its ancestors have their say as well, and the strictest word counts. */
export function evaluate(run: OpenRun, action: Action): Permission {
  const own = evaluateAlone(run, action);
  if (run.frozen.within === undefined || run.frozen.within.length === 0) return own;
  const others = ancestorsOf(run).map((one) => evaluateAlone(one, action));
  return strictestOf(own, others);
}

/** The same run as each ancestor has it, in each mode that counts of it. */
function ancestorsOf(run: Judged): readonly Judged[] {
  return (run.frozen.within ?? []).flatMap((one, generation) =>
    modesOf(run, one, generation).map((mode) => underAuthority(run, { ...one, mode })),
  );
}

function underAuthority(
  run: Judged,
  { policy, allowedTools, mode: permissionMode }: Authority,
): Judged {
  const settings = { ...run.frozen.settings, allowedTools, permissionMode };
  const { permissionMode: _, ...rest } = run;
  return { ...rest, frozen: { ...run.frozen, policy, settings } };
}

function evaluateAlone(run: Judged, action: Action): Permission {
  const said = byPolicy(run, action) ?? byList(run, action) ?? byRecord(action);
  return asHooksWant(run, action, inSandbox(action.tool, underMode(run, action, said)));
}

/** A hook may want a person where nothing else does, in any mode; never the other way round. */
function asHooksWant(run: Judged, { hookAsk }: Action, said: Permission): Permission {
  const isAllowed = said.decision === 'allow' || said.decision === 'sandbox';
  if (hookAsk === undefined || !isAllowed) return said;
  const rule = `hook:${hookAsk.hook}`;
  if (modeOf(run) === 'dontAsk') return deniedBy(rule, UNASKABLE);
  return {
    ...said,
    decision: 'ask',
    rule,
    ...(hookAsk.reason !== undefined && { reason: hookAsk.reason }),
    ...(said.decision === 'sandbox' && { sandbox: true }),
  };
}

/** The tool record alone would have a person asked. */
export function needsApproval(tool: ToolRecord): boolean {
  return typeof tool.approval === 'object' || tool.effect === 'unknown';
}

function byPolicy(run: Judged, { tool, args }: Action): Permission | undefined {
  const { policy } = run.frozen;
  const match = matchRule(policy, tool.name, args);
  if (match === undefined) return undefined;
  const { decision, reason, terminal = false } = match.rule;
  return {
    decision,
    rule: `policy:${policy.version}:${match.index}`,
    basis: 'policy',
    approvedBy: [`policy:${policy.version}`],
    terminal,
    ...(reason !== undefined && { reason }),
  };
}

function byList(run: Judged, { tool }: Action): Permission | undefined {
  const listed = run.frozen.settings.allowedTools.some((name) => matchesName(name, tool.name));
  return listed ? allowedBy('allowedTools') : undefined;
}

function byRecord({ tool }: Action): Permission {
  const decision = needsApproval(tool) ? 'ask' : 'allow';
  return { decision, rule: 'tool', basis: 'tool', approvedBy: [], terminal: false };
}

function underMode(run: Judged, action: Action, said: Permission): Permission {
  const { tool } = action;
  const mode = modeOf(run);
  if (said.decision === 'deny') return said;
  if (mode === 'plan' && isMutating(tool)) {
    return deniedBy('mode:plan', 'Nothing that changes something is executed while planning.');
  }
  if (said.decision !== 'ask') return said;
  // Whoever is asked to answer need not be asked whether they may be asked.
  if (tool.kind === 'human_input') return { ...said, decision: 'allow' };
  if (mode === 'acceptEdits' && tool.effect === 'write' && said.basis === 'tool')
    return allowedBy('mode:acceptEdits');
  if (mode === 'bypassPermissions' && (!isMutating(tool) || tool.effect === 'write'))
    return allowedBy('mode:bypassPermissions');
  const { grants, now } = run;
  const granted =
    grants === undefined || now === undefined
      ? undefined
      : grantFor({ grants, now }, { tool: tool.name, args: action.args });
  if (granted !== undefined) {
    const { by: approvedBy, signed } = granted;
    const allowed = { ...allowedBy(`grant:${granted.id}`), basis: 'ask', approvedBy } as const;
    return signed === undefined ? allowed : { ...allowed, signed };
  }
  return mode === 'dontAsk' ? deniedBy('mode:dontAsk', UNASKABLE) : said;
}

/** A call that must or shall run in a sandbox never runs outside one (G18). */
function inSandbox(tool: ToolRecord, said: Permission): Permission {
  const { sandbox = 'none' } = tool;
  if (said.decision === 'allow' && sandbox === 'required') return { ...said, decision: 'sandbox' };
  if (said.decision !== 'sandbox' || sandbox !== 'none') return said;
  const { rule, terminal } = said;
  return { ...deniedBy(rule, `${tool.name} cannot run in a sandbox.`), terminal };
}

function allowedBy(rule: string): Permission {
  return { decision: 'allow', rule, basis: 'policy', approvedBy: [rule], terminal: false };
}

function deniedBy(rule: string, reason: string): Permission {
  return { decision: 'deny', rule, basis: 'policy', approvedBy: [], reason, terminal: false };
}

export function visibleTools(run: OpenRun): readonly ToolRecord[] {
  return run.frozen.tools.filter(
    (tool) => isVisible(run, tool) && (tool.kind !== 'hosted' || isAllowedUnseen(run, tool)),
  );
}

function isVisible(run: OpenRun, tool: ToolRecord): boolean {
  if (run.changedTools?.includes(tool.name)) return false;
  return isShown({ task: run.start.task, settings: run.frozen.settings }, tool);
}

export interface Showing {
  readonly task: Pick<Task, 'allowedActions' | 'forbiddenActions'>;
  readonly settings: Pick<Settings, 'disallowedTools'>;
}

/** Task and settings do not hide it. */
export function isShown({ task, settings }: Showing, { name }: ToolRecord): boolean {
  const { allowedActions, forbiddenActions = [] } = task;
  const { disallowedTools } = settings;
  return (
    (allowedActions === undefined || allowedActions.includes(name)) &&
    !disallowedTools.some((pattern) => matchesName(pattern, name)) &&
    !forbiddenActions.includes(name)
  );
}

export function toolOf(run: OpenRun, name: string): ToolRecord | undefined {
  const byName = Object.fromEntries(run.frozen.tools.map((tool) => [tool.name, tool]));
  return ownValue(byName, name);
}

/** Every call of it would be allowed, by each ancestor too, whatever its arguments are. */
export function isAllowedUnseen(run: Judged, tool: ToolRecord): boolean {
  return [run, ...ancestorsOf(run)].every((one) => isAllowedUnseenAlone(one, tool));
}

function isAllowedUnseenAlone(run: Judged, tool: ToolRecord): boolean {
  const { policy } = run.frozen;
  const about = policy.rules.filter((rule) => matchesName(rule.tool, tool.name));
  const last = about.findIndex((rule) => rule.when === undefined);
  const reachable = last === -1 ? about : about.slice(0, last + 1);
  if (reachable.some((rule) => rule.decision !== 'allow')) return false;
  // A condition may hold or not: without it the call must be allowed as well.
  const rules = reachable.filter((rule) => rule.when === undefined);
  const bare: Judged = { ...run, frozen: { ...run.frozen, policy: { ...policy, rules } } };
  return evaluateAlone(bare, { tool, args: {} }).decision === 'allow';
}

/** The first rule that matches, with its index as id, or undefined. */
export function matchRule(
  policy: Policy,
  tool: string,
  args: Json,
): { readonly rule: PolicyRule; readonly index: number } | undefined {
  const index = policy.rules.findIndex(
    (rule) => matchesName(rule.tool, tool) && (rule.when === undefined || holds(rule.when, args)),
  );
  const rule = policy.rules[index];
  return rule === undefined ? undefined : { rule, index };
}
