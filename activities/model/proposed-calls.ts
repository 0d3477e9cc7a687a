/**
 * Tool calls of a reply, each checked against the schema of its tool.
 * Invariants: a call that cannot run is a value the model will see, never an error; what is handed on is
 * exactly what was checked; all calls together fit one payload, and more are not taken up.
 */
import { readFlow } from '../../core/dataflow/flow.js';
import { type Flow } from '../../core/state/dataflow.js';
import { ARGUMENTS_BYTES_MAX, type Json } from '../../core/json/json.js';
import type { CallCheck, ProposedCall } from '../../core/state/model.js';
import type { Block, ToolOffer } from '../../core/state/transcript.js';
import { CALLS_MAX } from '../../core/step/conversation.js';
import { unparsedText, whyUnread } from '../../providers/tool-arguments.js';
import { callDigest, knownDigestOf } from '../digests.js';
import { codeOf } from '../tool/code-of.js';
import { findArgumentDefect } from '../tool/argument-limits.js';
import {
  checkArguments,
  refused,
  spillChecked,
  withOutlook,
  type ArgumentSite,
  type Checked,
} from '../tool/checked-arguments.js';

export type ToolUse = Extract<Block, { type: 'tool_use' }>;

export interface CallChecker extends ArgumentSite {
  /** Every tool of the run, whether offered this time or not. */
  readonly offers: readonly ToolOffer[];
  /** What a call says about other calls is taken off its arguments. */
  readonly dataflow?: boolean;
  /** A worker with the code of a tool is waited for: arguments that this one cannot check stay unchecked. */
  readonly waits?: boolean;
}

const NAMES_SHOWN_MAX = 20;
const NAME_CHARS_MAX = 64;
/** What all calls of one reply may take of its payload; the rest is text. */
const CALLS_BYTES_MAX = 38_912;
/** What each call may take in any case: its names, its digest and why it was refused. */
const CALL_BYTES_FREE = 640;

export async function proposedCalls(
  checker: CallChecker,
  uses: readonly ToolUse[],
): Promise<readonly ProposedCall[]> {
  const calls: ProposedCall[] = [];
  const taken = uses.slice(0, CALLS_MAX);
  let bytesLeft = CALLS_BYTES_MAX - taken.length * CALL_BYTES_FREE;
  for (const use of taken) {
    const fitting = fittingInto(bytesLeft, await proposedCall(checker, use));
    bytesLeft -= bytesBeyondFree(fitting);
    calls.push(fitting);
  }
  return calls;
}

/** What the controls say goes first: whoever claims looks at them again. */
function fittingInto(bytesLeft: number, call: ProposedCall): ProposedCall {
  const bare: ProposedCall = call.check.ok ? { ...call, check: bareOf(call.check) } : call;
  const fitting = [call, bare].find((one) => bytesBeyondFree(one) <= bytesLeft);
  return fitting ?? tooLarge(bare, 'all calls of one reply');
}

function bareOf(check: Extract<CallCheck, { ok: true }>): CallCheck {
  const { outlook: _, ...bare } = check;
  return bare;
}

async function proposedCall(checker: CallChecker, use: ToolUse): Promise<ProposedCall> {
  const offer = offerOf(checker.offers, use.tool);
  const named = {
    id: use.id,
    tool: (offer?.name ?? use.tool).slice(0, NAME_CHARS_MAX),
    toolVersion: offer?.version ?? '',
  };
  const { flow, ...checked } = checkCall(checker, use, offer);
  const spilled = await spillChecked(checker, checked);
  const { tool, toolVersion } = named;
  const code = { name: tool, version: toolVersion };
  const call: ProposedCall = {
    ...named,
    args: spilled.args,
    digest: callDigest({ tool, toolVersion, args: spilled.args }),
    check:
      spilled.check.ok && !spilled.check.unchecked && isWhole(flow)
        ? await withOutlook(checker, code, checked)
        : spilled.check,
    ...(flow !== undefined && { flow }),
  };
  const bytes = Buffer.byteLength(JSON.stringify(call.args));
  return bytes <= ARGUMENTS_BYTES_MAX ? call : tooLarge(call, 'one call');
}

function isWhole(flow: Flow | undefined): boolean {
  return flow === undefined || flow.refs.length === 0;
}

interface CheckedUse extends Checked {
  readonly flow?: Flow;
}

function checkCall(checker: CallChecker, use: ToolUse, offer: ToolOffer | undefined): CheckedUse {
  const { args } = use;
  if (offer === undefined) return refused(args, 'unknown_tool', unknownTool(checker, use.tool));
  const unread = unparsedText(args);
  if (unread !== undefined) {
    const message = `The arguments cannot be used: ${whyUnread(unread)}. They were: ${unread}`;
    return refused(args, 'invalid_arguments', message);
  }
  const flows = checker.dataflow === true && findArgumentDefect(args) === undefined;
  return flows ? checkFlow(checker, offer, args) : checkOffered(checker, offer, args);
}

/** Arguments with references are checked when those have values (G1). */
function checkFlow(checker: CallChecker, offer: ToolOffer, proposed: Json): CheckedUse {
  const read = readFlow(proposed);
  if (!read.ok) {
    return refused(read.args, 'invalid_arguments', `The arguments cannot be used: ${read.defect}.`);
  }
  const { args, flow } = read;
  if (flow === undefined) return checkOffered(checker, offer, args);
  if (!isWhole(flow)) return { args, check: { ok: true }, flow };
  return { ...checkOffered(checker, offer, args), flow };
}

function checkOffered(checker: CallChecker, offer: ToolOffer, args: Json): Checked {
  if (checker.waits !== true || hasCode(checker, offer) || findArgumentDefect(args) !== undefined)
    return checkArguments(checker, offer, args);
  return { args, check: { ok: true, unchecked: true } };
}

/** With the schema that the model was told. */
function hasCode({ config }: CallChecker, offer: ToolOffer): boolean {
  const code = codeOf(config, offer);
  return code !== undefined && code.record.schemaHash === knownDigestOf(offer.inputSchema);
}

/** By the name that the model was given, or by the registry's. */
export function offerOf(offers: readonly ToolOffer[], name: string): ToolOffer | undefined {
  return offers.find((offer) => offer.wireName === name || offer.name === name);
}

function unknownTool({ offers }: CallChecker, name: string): string {
  const shown = offers.slice(0, NAMES_SHOWN_MAX).map((offer) => offer.wireName);
  const more = offers.length > shown.length ? ', …' : '';
  const known = shown.length === 0 ? 'There are no tools.' : `Tools: ${shown.join(', ')}${more}.`;
  return `There is no tool ${JSON.stringify(name.slice(0, NAME_CHARS_MAX))}. ${known}`;
}

/** The call without its arguments, refused: nothing can be approved that does not fit. */
function tooLarge(call: ProposedCall, what: string): ProposedCall {
  const { id, tool, toolVersion } = call;
  const message = `The arguments are too large for ${what}; send less at once.`;
  const check: CallCheck =
    call.check.ok || call.check.code === 'invalid_arguments'
      ? { ok: false, code: 'invalid_arguments', message }
      : { ...call.check, message: call.check.message.slice(0, 200) };
  return {
    id,
    tool,
    toolVersion,
    args: {},
    digest: callDigest({ tool, toolVersion, args: {} }),
    check,
  };
}

function bytesBeyondFree(call: ProposedCall): number {
  return Math.max(0, Buffer.byteLength(JSON.stringify(call)) - CALL_BYTES_FREE);
}
