/** The agents of a recorded tree in the words of a case, as they were frozen in the runs that they worked in. */
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import type { Frozen } from '../../core/state/frozen.js';
import type { HookPoint } from '../../core/state/hook.js';
import type { SubAgent } from '../../core/state/sub-agent.js';
import { inMicroUsd } from '../../authoring/budget-in-usd.js';
import { CASE_AGENT } from '../fixture.js';
import type { FixtureDocument } from '../format/document.js';
import { policyOf, settingsOf, withTokens } from './configuration.js';
import { refused } from './refused.js';
import type { Texts } from './texts.js';
import { allOf, employedIn, ownToolsIn, type Employed, type Member, type Tree } from './tree.js';

type Written = NonNullable<FixtureDocument['agents']>[string];
type Budget = NonNullable<Written['budget']>;
type Team = Pick<FixtureDocument, 'agents' | 'subAgents' | 'handoffTo' | 'offered'>;

const UNUSED = 'This agent never worked in the record.';

/** An agent under the name that the case has for it. */
interface Entry {
  readonly written: Written;
  /** What tells it from another agent of the same name. */
  readonly is: string;
  /** It has worked in a run of the tree. */
  readonly used: boolean;
}

export function teamOf(tree: Tree, texts: Texts): Team {
  const [first, ...later] = employedIn(tree.root);
  const team = new Entries(tree, texts);
  for (const member of allOf(tree)) team.addBelow(member);
  for (const employed of later) team.addTarget(employed, undefined);
  for (const { place, recording } of tree.members) {
    const [own, ...handed] = employedIn(recording);
    if (/h\d+$/.test(place)) team.addTarget(own!, recording.start.budget);
    for (const employed of handed) team.addTarget(employed, undefined);
  }
  for (const member of allOf(tree)) team.addNamed(member);
  const { frozen } = first!;
  const agents = team.all();
  const below = declaredIn(frozen, tree.root.start.agents);
  return {
    ...(Object.keys(agents).length > 0 && {
      agents,
      subAgents: [...below, ...Object.keys(tree.root.start.agents ?? {})],
      offered: toolsIn(frozen),
    }),
    ...targetsOf(frozen, tree),
  };
}

class Entries {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly tree: Tree,
    private readonly texts: Texts,
  ) {}

  all(): NonNullable<FixtureDocument['agents']> {
    return Object.fromEntries([...this.entries].map(([name, { written }]) => [name, written]));
  }

  /** The sub-agents of a run: what their declarations say, and what the first run of each was frozen with. */
  addBelow({ place, recording }: Member): void {
    const brought = recording.start.agents ?? {};
    for (const { frozen } of employedIn(recording)) {
      for (const [name, declared] of Object.entries(frozen.agents ?? {})) {
        const role = brought[name];
        if (declared.role !== undefined && role !== undefined) {
          const { prompt, maxTurns, model, disallowedTools: _, budget, ...rest } = role;
          const said = inMicroUsd(budget, (field, why) => refused(`${name}: ${field}: ${why}`));
          const limits = { ...(said as Budget), ...(maxTurns !== undefined && { maxTurns }) };
          const settings = model === undefined || model === 'inherit' ? {} : { model };
          this.put(name, {
            is: `start ${declared.agent}`,
            used: true,
            written: {
              ...rest,
              instructions: prompt,
              budget: limits,
              settings,
              start: true,
            } as Written,
          });
          continue;
        }
        const run = this.runOf(name, declared, place);
        this.put(name, {
          is: `${declared.agent}@${declared.version}`,
          used: run !== undefined,
          written: this.ofDeclaration(declared, run),
        });
      }
    }
  }

  private runOf(name: string, { agent }: SubAgent, parent: string): Member | undefined {
    const inside = parent === '' ? '' : `${parent}:`;
    return this.tree.members.find(
      ({ place, name: called, recording }) =>
        called === name &&
        place.startsWith(inside) &&
        /^a\d+$/.test(place.slice(inside.length)) &&
        recording.frozen.agent.name === agent,
    );
  }

  private ofDeclaration(declared: SubAgent, run: Member | undefined): Written {
    const { budget = {}, outputSchema, parallel } = declared;
    const own = run && employedIn(run.recording)[0];
    const { start } = run?.recording ?? {};
    return {
      ...(own === undefined ? { instructions: UNUSED, tools: [] } : this.ofEmployed(own)),
      ...(outputSchema !== undefined && {
        outputSchema: JSON.parse(this.texts.text(outputSchema)) as Written['outputSchema'],
      }),
      budget: { ...(own && ownLimits(own.frozen, start?.budget ?? {})), ...(budget as Budget) },
      ...(parallel !== undefined && { parallel }),
    };
  }

  /** Somebody whom a run was handed over to. */
  addTarget({ frozen, root }: Employed, given: Partial<Frozen['budget']> | undefined): void {
    const name = nameIn(this.tree, frozen.agent.name);
    if (name === CASE_AGENT) return;
    const budget = given === undefined ? {} : ownLimits(frozen, given);
    this.put(name, {
      is: `${frozen.agent.name}@${frozen.agent.version}`,
      used: true,
      written: { ...this.ofEmployed({ frozen, root }), budget },
    });
  }

  /** Those that are named and never worked have to be there. */
  addNamed({ recording }: Member): void {
    for (const { frozen } of employedIn(recording)) {
      for (const { agent } of frozen.handoffTo ?? []) {
        const name = nameIn(this.tree, agent);
        if (name === CASE_AGENT || this.entries.has(name)) continue;
        this.put(name, { is: agent, used: false, written: { instructions: UNUSED, tools: [] } });
      }
    }
  }

  private ofEmployed({ frozen, root }: Employed): Written {
    const [said] = root.blocks;
    const { policy = [] } = policyOf({ frozen });
    const { pricing: _, contextWindow: __, ...settings } = settingsOf({ frozen, activities: [] });
    const below = declaredIn(frozen, undefined);
    return {
      instructions: said?.type === 'text' ? this.texts.text(said.text) : UNUSED,
      tools: toolsIn(frozen),
      settings,
      policy,
      hooks: Object.entries(frozen.hooks).flatMap(([point, names]) =>
        names.length > 0 ? [point as HookPoint] : [],
      ),
      ...(below.length > 0 && { subAgents: below }),
      ...targetsOf(frozen, this.tree),
    } as Written;
  }

  private put(name: string, entry: Entry): void {
    const known = this.entries.get(name);
    if (known !== undefined && known.is !== entry.is)
      throw refused(`two of its agents are both named ${name}`);
    if (known === undefined || (!known.used && entry.used)) this.entries.set(name, entry);
  }
}

/** Limits that the agent has of itself: lower than what it was given. */
function ownLimits(frozen: Frozen, given: Partial<Frozen['budget']>): Budget {
  const fields = Object.entries(frozen.budget).filter(
    ([name, value]) =>
      value !== given[name as keyof typeof given] &&
      value !== DEFAULT_BUDGET[name as keyof typeof DEFAULT_BUDGET],
  );
  return withTokens(Object.fromEntries(fields) as Budget, frozen);
}

/** Sub-agents that a model names: agents that are tools are tools. */
function declaredIn({ agents = {}, tools }: Frozen, brought: object = {}): string[] {
  return Object.keys(agents).filter(
    (name) =>
      !Object.hasOwn(brought, name) && !tools.some(({ startsAgent }) => startsAgent === name),
  );
}

function toolsIn(frozen: Frozen): string[] {
  return ownToolsIn(frozen).map(({ name }) => name);
}

function targetsOf({ handoffTo = [] }: Frozen, tree: Tree): Pick<Written, 'handoffTo'> {
  if (handoffTo.length === 0) return {};
  return {
    handoffTo: handoffTo.map(({ agent, ...rest }) => ({ agent: nameIn(tree, agent), ...rest })),
  };
}

/** The agent of the case has a name of its own there. */
export function nameIn({ root }: Tree, agent: string): string {
  return agent === root.frozen.agent.name ? CASE_AGENT : agent;
}
