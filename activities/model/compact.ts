/**
 * compact: has the older part of a conversation summarised and writes a shorter one beside it (G34).
 * Invariants: those of every question (model-asking.ts); the old conversation stays in the store as it was;
 * the same input gives the same new head, and its summary is paid for once.
 */
import type { CompactInput, CompactOutput } from '../../core/state/effect.js';
import { SUMMARY_REQUEST } from '../../core/context/compaction.js';
import { digestOf } from '../../core/json/json.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { StoredBlock, TranscriptNode } from '../../core/state/transcript.js';
import type { ModelReply, ModelRequest } from '../../providers/provider.js';
import type { StoreCalls } from '../../store/store.js';
import type { HashedNode } from '../../store/transcripts.js';
import { appendEvents } from '../run/append-events.js';
import { appendItems, beginning, textInBlock } from '../run/append-items.js';
import {
  bytesOf,
  charsOf,
  planCompaction,
  wholePlan,
  type CompactionPlan,
} from './compact-plan.js';
import type { ActivityDeps, InTransaction } from '../deps.js';
import { failure } from '../failure.js';
import {
  accountFor,
  answerTo,
  billedFailure,
  prepareQuestion,
  takeReceipt,
  type PreparedQuestion,
} from './model-asking.js';
import { usageOf } from './reply-usage.js';
import { chainAt, conversationOf, type MessageChain } from './model-request.js';
import type { Scope } from '../scope.js';

export async function compact(
  deps: ActivityDeps,
  scope: Scope,
  input: CompactInput,
): Promise<CompactOutput> {
  const prepared = await deps.store.together((store) => prepare({ ...deps, store }, scope, input));
  if (prepared.question === undefined) throw nothingToSummarise();
  const { plan, chain, question, eventsUpTo } = prepared;
  const receipt = await answerTo(deps, scope, question);
  const { attempt, reply } = receipt.received;
  const take = async (inside: InTransaction): Promise<CompactOutput> => {
    const { store } = inside;
    const summary = textOf(reply);
    if (reply.partial === true || summary === '') {
      const account = await accountFor(store, scope, { run: input.run });
      throw billedFailure(reply.partial ? 'Aborted' : 'MalformedReply', account, {
        message: `The model gave no summary (${reply.stop}).`,
        retryable: false,
      });
    }
    const account = await accountFor(store, scope, { run: input.run, replied: attempt });
    const written = await writeConversation(inside, { input, plan, chain }, summary);
    return {
      ...written,
      usage: usageOf(input, reply),
      lostCostMicroUsd: account.lostCostMicroUsd,
      lostUsage: account.lostUsage,
      eventsUpTo,
    };
  };
  return takeReceipt(deps, scope, { receipt, take });
}

type Prepared = { readonly eventsUpTo: number } & (
  | {
      readonly plan: CompactionPlan;
      readonly chain: MessageChain;
      readonly question: PreparedQuestion;
    }
  /** A value, not an exception: what was written before it must stay. */
  | { readonly question?: undefined }
);

async function prepare(deps: InTransaction, scope: Scope, input: CompactInput): Promise<Prepared> {
  const { store } = deps;
  const { tenant, runId } = input.run;
  const eventsUpTo = await appendEvents(store, scope, input);
  const head = await appendItems(store, { tenant, head: input.head }, input.append);
  const chain = await chainAt(store, tenant, head);
  const { route, maxTokens, number } = input;
  const plan =
    planCompaction(chain, { ...input, runId, contextWindow: route.contextWindow }) ??
    (deps.sizeAfterSummary && wholePlan(chain));
  if (plan === undefined) return { eventsUpTo };
  const question = await prepareQuestion(deps, scope, {
    asked: input,
    purpose: 'compaction',
    request: await summaryRequest(store, input, { root: chain.root, nodes: plan.asked }),
    replyKey: {
      tenant,
      runId,
      call: number,
      requestDigest: digestOf({
        purpose: 'compaction',
        asked: plan.asked.map((node) => node.hash),
        model: route.model,
        offered: input.offered ?? null,
        maxTokens,
        ...(input.betas !== undefined && { betas: input.betas }),
      }),
    },
  });
  return { eventsUpTo, plan, chain, question };
}

/** The conversation itself with one more message: what a vendor has cached of it stays cached. */
async function summaryRequest(
  store: StoreCalls,
  input: CompactInput,
  chain: MessageChain,
): Promise<ModelRequest> {
  const inquiry = { ...input, call: input.number, purpose: 'compaction' } as const;
  const { request } = await conversationOf(store, inquiry, chain);
  const text = { type: 'text', text: SUMMARY_REQUEST } as const;
  return { ...request, messages: [...request.messages, { role: 'user', blocks: [text] }] };
}

function textOf({ blocks }: ModelReply): string {
  return blocks
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('')
    .trim();
}

function nothingToSummarise() {
  return failure('InvalidRequest', {
    message: 'The conversation has nothing that a summary could take the place of.',
    retryable: false,
    details: { attempts: 0, lostCostMicroUsd: 0, lostUsage: NO_USAGE },
  });
}

interface Compaction {
  readonly input: CompactInput;
  readonly plan: CompactionPlan;
  readonly chain: MessageChain;
}

/** Goal, summary and newest turns under a head of their own, and how large they are. */
async function writeConversation(
  { store, sizeAfterSummary }: InTransaction,
  { input, plan, chain }: Compaction,
  summary: string,
): Promise<Pick<CompactOutput, 'head' | 'tokens' | 'bytes' | 'answerKept'>> {
  const { tenant } = input.run;
  const summaryNode: TranscriptNode = {
    v: 1,
    parent: null,
    role: 'user',
    messageId: input.messageId,
    blocks: await summaryBlocks(store, input, { plan, summary }),
    flags: ['synthetic', 'compactSummary'],
    summarised: (chain.nodes.at(-1) ?? chain.root).hash,
  };
  let head = chain.root.hash;
  for (const node of [...plan.goal, summaryNode, ...plan.kept]) {
    const { hash: _, ...content } = node as HashedNode;
    head = await store.putNode(tenant, { ...content, parent: head });
  }
  const after = await store.readChain(tenant, head);
  const share = charsOf(after) / charsOf([chain.root, ...chain.nodes]);
  const tokens = sizeAfterSummary?.(input) ?? Math.ceil(input.preTokens * share);
  const answerKept = [...plan.goal, ...plan.kept].some(
    ({ messageId }) => messageId !== undefined && messageId === input.answerFrom,
  );
  return { head, tokens, bytes: bytesOf(after), ...(answerKept && { answerKept }) };
}

interface Said {
  readonly plan: CompactionPlan;
  readonly summary: string;
}

async function summaryBlocks(
  store: StoreCalls,
  input: CompactInput,
  { plan, summary }: Said,
): Promise<readonly StoredBlock[]> {
  const { tenant } = input.run;
  const left = plan.omitted === 0 ? '' : ` The oldest ${plan.omitted} messages are not in it.`;
  const texts = [
    `What was said and done before this point, as a summary.${left}\n\n${summary}`,
    ...input.pinned,
  ];
  for (const { label, content } of input.pinnedRefs ?? []) {
    const text = await store.getText(tenant, content);
    texts.push(`${label}\n${cutTo(text, input.pinnedCharsMax)}`);
  }
  const blocks: StoredBlock[] = [];
  for (const text of texts) {
    blocks.push({ type: 'text', text: textInBlock(await store.putText(tenant, text)) });
  }
  return blocks;
}

function cutTo(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const shown = beginning(text, chars);
  return `${shown}\n[truncated: ${shown.length} of ${text.length} characters shown]`;
}
