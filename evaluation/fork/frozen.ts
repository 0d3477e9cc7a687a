/**
 * What a fork is frozen with: that of its parent, or of the agent of a configuration, with the named changes.
 * Invariant: the conversation lies under the root that it is frozen with.
 */
import { policyOf, type PolicyDeclaration } from '../../authoring/policy.js';
import type { Config } from '../../authoring/index.js';
import { rewritten } from '../../activities/run/open-session.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { BudgetOverrides } from '../../core/state/task.js';
import type { Frozen } from '../../core/state/frozen.js';
import type { ModelRoute } from '../../core/state/model.js';
import { matchesName } from '../../core/state/policy.js';
import type { OpenRun } from '../../core/state/run.js';
import type { ToolOffer, TranscriptNode } from '../../core/state/transcript.js';
import { wireNameOf } from '../../core/state/tool.js';
import type { Bundle } from '../../replay/bundle.js';
import type { MemoryStore } from '../../store/store.js';
import { openedBy } from './opening.js';

/** The named changes of a fork. */
export interface ForkChanges {
  readonly route?: ModelRoute | undefined;
  readonly instructions?: string | undefined;
  /** `name@version` of the configuration, in place of the tool of this name. */
  readonly tool?: string | undefined;
  readonly policy?: PolicyDeclaration | undefined;
  readonly budget?: BudgetOverrides | undefined;
  readonly message?: string | undefined;
  /** By call id. */
  readonly results?: { readonly [callId: string]: string } | undefined;
  /** The agent of the parent's name as this configuration has it: prompt, tools, policy, limits and hooks. */
  readonly config?: Config | undefined;
}

export interface FrozenFork {
  readonly frozen: Frozen;
  readonly head?: string;
}

export async function frozenFork(
  store: MemoryStore,
  bundle: Bundle,
  { run, changes }: { readonly run: OpenRun; readonly changes: ForkChanges },
): Promise<FrozenFork> {
  const { config, route, policy, budget, instructions, tool } = changes;
  const base = config === undefined ? run.frozen : await openedBy(config, { store, bundle, run });
  const terms = withTerms(base, { route, policy, budget });
  const opened = await rootOf(store, run.tenant, terms.prompt.hash);
  const { frozen: changed, root } =
    config === undefined
      ? { frozen: terms, root: opened }
      : withServed(
          { frozen: terms, root: opened },
          { frozen: run.frozen, root: await rootOf(store, run.tenant, run.frozen.prompt.hash) },
          config,
        );
  const swapped = tool === undefined ? { frozen: changed, root } : withTool(changed, root, changes);
  const told =
    instructions === undefined ? swapped.root : withInstructions(swapped.root, instructions);
  if (told === root && config === undefined) return { frozen: changed };
  const hash = await store.putNode(run.tenant, told);
  const bytes = swapped.frozen.prompt.bytes + sizeOf(told) - sizeOf(root);
  const frozen = {
    ...swapped.frozen,
    prompt: { hash, bytes },
    versions: { ...swapped.frozen.versions, prompt: hash },
  };
  const [, ...messages] = await store.readChain(run.tenant, run.head ?? run.frozen.prompt.hash);
  return { frozen, head: await rewritten(store, run.tenant, { root: hash, messages }) };
}

/** With another model, policy and limits; the conversation stays where it is. */
function withTerms(
  frozen: Frozen,
  {
    route,
    policy,
    budget,
  }: Pick<
    { [Key in keyof ForkChanges]: ForkChanges[Key] | undefined },
    'route' | 'policy' | 'budget'
  >,
): Frozen {
  const { fallback, ...rest } = frozen;
  const ruled = policy === undefined ? undefined : policyOf(frozen.agent.name, policy);
  return {
    ...rest,
    // Another model was named: no other one takes its place.
    ...(fallback !== undefined && route === undefined && { fallback }),
    ...(route !== undefined && { route }),
    ...(ruled !== undefined && {
      policy: ruled,
      versions: { ...frozen.versions, policy: ruled.version },
    }),
    budget: { ...frozen.budget, ...budget },
  };
}

async function rootOf(store: MemoryStore, tenant: string, hash: string): Promise<TranscriptNode> {
  const [node] = await store.readChain(tenant, hash);
  const { hash: _, ...root } = node!;
  return root;
}

interface Rooted {
  readonly frozen: Frozen;
  readonly root: TranscriptNode;
}

/** No server is reached before a fork begins: tools of connectors that the agent still uses stay as the run had them. */
function withServed({ frozen, root }: Rooted, before: Rooted, config: Config): Rooted {
  const used = config.agents.get(frozen.agent.name)?.mcp ?? [];
  const served = before.frozen.tools.filter(
    ({ name, mcp }) =>
      mcp !== undefined && used.some((one) => one === mcp.connector || matchesName(one, name)),
  );
  const names = new Set(served.map(({ name }) => name));
  const own = <T extends { readonly name: string }>(tools: readonly T[] = []): readonly T[] =>
    tools.filter(({ name }) => !names.has(name));
  const offers = (before.root.tools ?? []).filter(({ name }) => names.has(name));
  return {
    frozen: { ...frozen, tools: [...own(frozen.tools), ...served] },
    root: { ...root, tools: [...own(root.tools), ...offers] },
  };
}

/** What the runtime adds to every prompt stays behind it. */
function withInstructions(root: TranscriptNode, text: string): TranscriptNode {
  const [, ...rest] = root.blocks;
  return { ...root, blocks: [{ type: 'text', text }, ...rest] };
}

function withTool(frozen: Frozen, root: TranscriptNode, { tool: key = '', config }: ForkChanges) {
  const code = config?.tools.get(key);
  if (code === undefined) {
    const known = [...(config?.tools.keys() ?? [])].slice(0, KNOWN_SHOWN);
    throw new HoldfastError(
      'InvalidRequest',
      `The configuration has no tool ${key.slice(0, 100)}.`,
      {
        hint:
          config === undefined
            ? 'Name the configuration that has it with --config.'
            : `Name one as name@version: ${known.join(', ')}.`,
        details: { known },
      },
    );
  }
  const { record, description, inputSchema } = code;
  const { name, version } = record;
  const offer: ToolOffer = { name, version, wireName: wireNameOf(name), description, inputSchema };
  return {
    frozen: { ...frozen, tools: [...frozen.tools.filter((one) => one.name !== name), record] },
    root: { ...root, tools: [...(root.tools ?? []).filter((one) => one.name !== name), offer] },
  };
}

const KNOWN_SHOWN = 20;

function sizeOf({ blocks, tools = [] }: TranscriptNode): number {
  const texts = blocks.map((block) => ('text' in block ? JSON.stringify(block.text) : ''));
  return Buffer.byteLength(texts.join('')) + Buffer.byteLength(JSON.stringify(tools));
}
