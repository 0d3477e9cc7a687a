/**
 * A provider's reply as a node of the transcript and as the facts that the core gets.
 * Invariants: no empty and no unreadable message enters the transcript (G41); what the core gets is small.
 */
import type { CallModelInput } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { StoredText } from '../../core/json/json.js';
import type { OutputCheck, Reply, ReplyStop } from '../../core/state/model.js';
import { isCount } from '../../core/json/count.js';
import { sourcesOf } from '../../pure/sources.js';
import type { Block, StoredBlock, ToolOffer, TranscriptNode } from '../../core/state/transcript.js';
import type { ModelReply } from '../../providers/provider.js';
import { now, type InTransaction } from '../deps.js';
import { hostedOf } from './hosted-calls.js';
import { checkOutput } from './output-check.js';
import { withKeptCalls } from './kept-calls.js';
import { offerOf, proposedCalls, type ToolUse } from './proposed-calls.js';
import { usageDefect, usageOf } from './reply-usage.js';

const DETAIL_CHARS_MAX = 200;
const REFUSAL_CHARS_MAX = 2_000;
const UNPARSED_CHARS_MAX = 2_000;
/** Of an answer in several replies the rest is left out. */
const ANSWER_CHARS_MAX = 8_000_000;

export interface ReplySite {
  readonly input: CallModelInput;
  /** The conversation that was asked about. */
  readonly head: string;
  readonly offers: readonly ToolOffer[];
}

export interface TakenReply {
  readonly head: string;
  readonly reply: Reply;
  /** Of the message as any other model gets it. */
  readonly bytes: number;
}

/** Writes the assistant message and checks its calls. */
export async function takeReply(
  deps: InTransaction,
  site: ReplySite,
  received: ModelReply,
): Promise<TakenReply> {
  const { tenant } = site.input.run;
  const kept = withKeptCalls(received);
  const uses = kept.blocks.filter(isUse);
  const calls = await proposedCalls(
    {
      config: deps.config,
      offers: site.offers,
      store: deps.store,
      tenant,
      at: now(deps),
      dataflow: site.input.dataflow === true,
      waits: site.input.unservedMs !== undefined,
    },
    uses,
  );
  const surplus = received.blocks.filter(isUse).length - calls.length;
  const text = kept.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const stored: StoredText | undefined =
    text === '' ? undefined : await deps.store.putText(tenant, text);
  const answer = await joinedText(deps, site, text);
  const output =
    calls.length === 0
      ? await outputOf(deps, site, { ...kept, text: answer?.whole ?? text })
      : undefined;
  const said = {
    ...(stored !== undefined && { text: stored }),
    ...(answer !== undefined && { answer: answer.stored }),
    ...(output !== undefined && { output }),
    calls,
  };
  const { bound } = site.input;
  const hosted = await hostedOf({ ...site, store: deps.store, tenant, bound }, kept.hosted, said);
  return {
    head: await appendReply(deps, site, kept),
    bytes: Buffer.byteLength(JSON.stringify(kept.blocks)),
    reply: {
      ...said,
      ...(surplus > 0 && { surplus }),
      ...(hosted !== undefined && { hosted }),
      ...((kept.blocks.some(isThinking) || sourcesOf(kept.raw).length > 0) && { thinking: true }),
      ...endOf(kept),
      ...countedOf(site, kept),
      model: kept.model.slice(0, DETAIL_CHARS_MAX),
    },
  };
}

/** The answer up to this reply and with it; undefined: the reply begins one. */
async function joinedText({ store }: InTransaction, { input }: ReplySite, text: string) {
  const { before, run } = input;
  if (before === undefined) return undefined;
  const begun = await store.getText(run.tenant, before);
  const whole = `${begun}${text}`.slice(0, ANSWER_CHARS_MAX);
  return { whole, stored: await store.putText(run.tenant, whole) };
}

function isUse(block: Block): block is ToolUse {
  return block.type === 'tool_use';
}

function isThinking(block: Block): boolean {
  return block.type === 'thinking' && block.text !== '';
}

/** What the vendor counted, as far as it can be reckoned with. */
function countedOf({ input }: ReplySite, reply: ModelReply) {
  const { contextTokens: told, clearedTokens } = reply;
  const defect = usageDefect(reply);
  const usage = usageOf(input, reply);
  // The next request has no more than this one and what is new.
  const contextTokens = told === 'unknown' ? input.bound.inputTokens + usage.output : told;
  return {
    usage,
    ...(defect !== undefined && { usageDefect: defect }),
    ...(isCount(contextTokens) && { contextTokens }),
    ...(isCount(clearedTokens) && clearedTokens > 0 && { clearedTokens }),
  };
}

/** How the reply ended, in bounded words. */
function endOf({ incompleteCalls, stop, ...reply }: ModelReply) {
  const { stopDetail, refusal, escalation, partial, missing } = reply;
  return {
    stop,
    ...(incompleteCalls > 0 && { cutCalls: incompleteCalls }),
    ...(stopDetail !== undefined && { stopDetail: stopDetail.slice(0, DETAIL_CHARS_MAX) }),
    ...(refusal !== undefined && { refusal: refusal.slice(0, REFUSAL_CHARS_MAX) }),
    ...(escalation !== undefined && { escalation: escalation.slice(0, REFUSAL_CHARS_MAX) }),
    ...(partial === true && { partial }),
    ...(missing !== undefined && { missing: missing.slice(0, DETAIL_CHARS_MAX) }),
  };
}

/** Stops after which a reply is as long as the model wanted it. */
const COMPLETE: readonly ReplyStop[] = ['end_turn', 'stop_sequence', 'tool_use', 'unknown'];

/** The answer against the task's output schema; undefined: there is none, or this is no answer. */
async function outputOf(
  { store }: InTransaction,
  { input }: ReplySite,
  reply: ModelReply & { readonly text: string },
): Promise<OutputCheck | undefined> {
  const { outputSchema, run } = input;
  const isAnswer = COMPLETE.includes(reply.stop) && reply.partial !== true;
  if (outputSchema === undefined || !isAnswer) return undefined;
  return checkOutput({ store, tenant: run.tenant }, outputSchema, reply.text);
}

async function appendReply(
  deps: InTransaction,
  site: ReplySite,
  reply: ModelReply,
): Promise<string> {
  if (!hasSubstance(reply)) return site.head;
  const { input, head, offers } = site;
  const { tenant } = input.run;
  const blocks: StoredBlock[] = [];
  for (const block of reply.blocks) {
    if (block.type === 'tool_use') blocks.push(await storedUse(deps, { tenant, offers }, block));
    else if (block.type !== 'tool_result' && block.type !== 'file' && block.text !== '') {
      const text = await deps.store.putText(tenant, block.text);
      const inline = 'text' in text ? text.text : { $blob: text.$blob, bytes: text.bytes };
      blocks.push({ type: block.type, text: inline });
    }
  }
  const node: TranscriptNode = {
    v: 1,
    parent: head,
    role: 'assistant',
    messageId: input.replyMessageId,
    blocks,
    // The model that was asked, not its dated name in the reply: raw blocks go back to the same one.
    origin: { model: input.route.model, route: input.route.name, call: input.call },
    raw: reply.raw,
    ...(reply.container !== undefined && { container: reply.container }),
    ...(reply.partial === true && { flags: ['partial'] as const }),
  };
  return deps.store.putNode(tenant, node);
}

/** A paused turn may hold nothing but the vendor's own blocks, and goes on only with them. */
function hasSubstance({ blocks, stop, raw }: ModelReply): boolean {
  const said = blocks.some(
    (block) => block.type === 'tool_use' || (block.type === 'text' && block.text.trim() !== ''),
  );
  return said || (stop === 'pause_turn' && Array.isArray(raw) && raw.length > 0);
}

interface UsePlace {
  readonly tenant: string;
  readonly offers: readonly ToolOffer[];
}

async function storedUse(
  { store }: InTransaction,
  { tenant, offers }: UsePlace,
  use: ToolUse,
): Promise<StoredBlock> {
  const tool = offerOf(offers, use.tool)?.name ?? use.tool;
  try {
    const { args } = await store.spillArguments(tenant, use.args);
    return { type: 'tool_use', id: use.id, tool, args };
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'InvalidRequest') throw error;
    // Arguments no store would take; the call was refused, and the model sees that it made it.
    const text = JSON.stringify(use.args).slice(0, UNPARSED_CHARS_MAX);
    return { type: 'tool_use', id: use.id, tool, args: { $unparsed: text } };
  }
}
