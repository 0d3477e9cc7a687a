/**
 * What the tool `message_agent` does: a letter for another run of the same tree.
 * Invariants: the sender is the run whose call this is, whatever its arguments say; the recipient is a run of the tree of the
 * sender, as the store has the tree; a letter is written once for each call, however often the call is delivered; what cannot
 * be sent is an error of the tool, in words that its model can act on.
 */
import { messageAgent } from '../../authoring/message-agent.js';
import { ToolError } from '../../authoring/tool-error.js';
import type { ExecuteToolInput } from '../../core/state/effect.js';
import { MESSAGE_TOOL, type Sender } from '../../core/state/mail.js';
import type { ChildRow } from '../../store/children.js';
import type { StoreCalls } from '../../store/store.js';
import { now, type ActivityDeps } from '../deps.js';
import type { Scope } from '../scope.js';
import type { RunnableCall } from './tool-call.js';

/** The call with its code, if it is one of this tool. */
export function messageCall(
  deps: ActivityDeps,
  scope: Scope,
  { input, runnable }: { readonly input: ExecuteToolInput; readonly runnable: RunnableCall },
): RunnableCall | undefined {
  const { record } = runnable.tool;
  const isOwn =
    record.name === MESSAGE_TOOL && record.schemaHash === messageAgent.record.schemaHash;
  if (!isOwn) return undefined;
  const run = (given: unknown) => send(deps, scope, { input, given: given as Given });
  return { ...runnable, tool: { ...runnable.tool, run } };
}

interface Given {
  readonly to: string;
  readonly text: string;
}

interface Sending {
  readonly input: ExecuteToolInput;
  readonly given: Given;
}

async function send(deps: ActivityDeps, scope: Scope, { input, given }: Sending): Promise<string> {
  const { store } = deps;
  const { tenant, runId } = input.run;
  const tree = await treeOf(store, tenant, runId);
  const to = recipientIn(tree, given.to);
  const target = await store.getRun(tenant, to.run);
  if (to.isOver || target?.result !== undefined)
    throw new ToolError(`${to.agent} (run ${to.run}) has ended and reads nothing any more.`);
  const mailed = await store.writeLetter({
    tenant,
    to: to.run,
    from: tree.own,
    key: input.call.key,
    text: given.text,
    at: now(deps),
  });
  const refusal = REFUSALS[mailed];
  if (refusal !== undefined) throw new ToolError(refusal);
  await scope.wake?.(to.run);
  return `Sent to ${to.agent} (run ${to.run}). An answer, if one comes, is a letter to you.`;
}

const REFUSALS: { readonly [mailed: string]: string | undefined } = {
  other: 'Not sent: this call has sent another letter before.',
  full: 'Not sent: the recipient has not read the letters that it has. Go on without an answer.',
  used_up: 'Not sent: the recipient has got as many letters as one run may get.',
};

interface Member extends Sender {
  readonly parent?: string;
  readonly isOver: boolean;
}

interface Tree {
  readonly own: Sender;
  readonly parent?: string;
  readonly root: string;
  readonly members: readonly Member[];
}

async function treeOf(store: StoreCalls, tenant: string, runId: string): Promise<Tree> {
  const row = await store.childRow(tenant, runId);
  const root = row?.place?.root ?? runId;
  const rows = await store.listTree(tenant, root);
  const rootAgent = (await store.getRun(tenant, root))?.agent ?? 'root';
  const all: readonly Member[] = [
    { run: root, agent: rows[0]?.place?.path[0] ?? rootAgent, isOver: false },
    ...rows.map(memberOf),
  ];
  const own = all.find(({ run }) => run === runId);
  return {
    own: { run: runId, agent: own?.agent ?? rootAgent },
    ...(own?.parent !== undefined && { parent: own.parent }),
    root,
    members: all.filter(({ run }) => run !== runId),
  };
}

function memberOf({ child, parent, place, state }: ChildRow): Member {
  return { run: child, agent: place?.path.join('/') ?? child, parent, isOver: state !== 'open' };
}

const SHOWN_MAX = 10;

/** By run id, `parent`, `root`, path or last name; a name that several have means the open ones. */
function recipientIn({ members, parent, root }: Tree, to: string): Member {
  const wanted = to === 'parent' ? parent : to === 'root' ? root : to;
  const exact = members.find(({ run }) => run === wanted);
  if (exact !== undefined) return exact;
  const named = members.filter(({ agent }) => agent === to || agent.split('/').at(-1) === to);
  const open = named.filter(({ isOver }) => !isOver);
  const [one, ...others] = open.length > 0 ? open : named;
  if (one !== undefined && others.length === 0) return one;
  const shown = (one === undefined ? members : [one, ...others])
    .slice(0, SHOWN_MAX)
    .map(({ run, agent }) => `${agent} (run ${run})`);
  const known = shown.length === 0 ? 'This task has no other agents.' : shown.join(', ');
  throw new ToolError(
    one === undefined
      ? `This task has no other agent named ${JSON.stringify(to)}. Others: ${known}`
      : `Several are called ${JSON.stringify(to)}; use a run id: ${known}`,
  );
}
