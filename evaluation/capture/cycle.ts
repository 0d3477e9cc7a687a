/**
 * A cycle of a goal as a case of its own: its brief is what the case is asked, and the tools of goals answer from the
 * record, under other names, because an agent has none of theirs.
 */
import type { TranscriptNode } from '../../core/state/transcript.js';
import type { FixtureDocument } from '../format/document.js';
import { isGoalTool } from './goal-recording.js';
import { ofKind, outputOf, type Recording } from './recording.js';
import type { Texts } from './texts.js';

export function isCycle({ start }: Pick<Recording, 'start'>): boolean {
  return start.parent?.kind === 'goal';
}

/** What the first request said: the task, and data of plan, notes and checks, as they were shown. */
export function briefOf({ bundle, start, activities }: Recording, texts: Texts): string {
  const heads = ofKind({ activities }, 'call_model').flatMap(
    ({ activity }) => outputOf(activity, 'call_model')?.head ?? [],
  );
  const chain: TranscriptNode[] = [];
  for (let hash: string | null = heads[0] ?? null; hash !== null;) {
    const node = bundle.nodes[hash] as unknown as TranscriptNode | undefined;
    if (node === undefined) break;
    chain.unshift(node);
    hash = node.parent;
  }
  const answer = chain.findIndex(({ role }) => role === 'assistant');
  const said = chain
    .slice(0, answer < 0 ? chain.length : answer)
    .filter(({ role }) => role === 'user')
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => (block.type === 'text' ? [texts.text(block.text)] : []));
  return said.length === 0 ? start.task.goal : said.join('\n\n');
}

const PREFIX = 'cycle.';

function nameOf(tool: string): string {
  return isGoalTool(tool) ? `${PREFIX}${tool}` : tool;
}

type Model = NonNullable<FixtureDocument['model']>;

/** The case with other names for the tools of goals. */
export function withoutGoalTools(document: FixtureDocument): FixtureDocument {
  const { tools = {}, model = [], expected, during } = document;
  const { executed, approvals, ...rest } = expected;
  if (tools === 'live') return document;
  return {
    ...document,
    tools: Object.fromEntries(Object.entries(tools).map(([name, tool]) => [nameOf(name), tool])),
    model: model.map(renamedReply),
    ...(during !== undefined && {
      during: during.map(({ on, ...moment }) => ({ ...moment, on: renamedTool(on) })),
    }),
    expected: {
      ...rest,
      ...(executed !== undefined && { executed: executed.map(renamedTool) }),
      ...(approvals !== undefined && { approvals: approvals.map(renamedTool) }),
    },
  };
}

function renamedReply(reply: Model[number]): Model[number] {
  if (!('calls' in reply) || reply.calls === undefined) return reply;
  return { ...reply, calls: reply.calls.map(renamedTool) };
}

function renamedTool<T extends object>(one: T): T {
  const { tool } = one as { readonly tool?: string };
  return tool === undefined ? one : { ...one, tool: nameOf(tool) };
}
