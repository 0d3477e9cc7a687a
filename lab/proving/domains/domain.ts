/** A domain of the benchmark: whose tools are played on which tables. {@link runTool} is their only door. */
import { ToolError } from '../python/tool-error.js';
import type { PyObject } from '../python/python-value.js';
import { bindArguments, type BoundArguments } from './arguments.js';
import type { DatabaseShape, Dialect } from './database.js';
import type { World } from './world.js';

/** A tool's code: takes the run's world and the bound arguments, gives the text of its answer. */
export type ToolCode = (world: World, args: BoundArguments) => string;

/** What a tool may do: nothing but look, change records, or end the conversation. */
export type ToolEffect = 'read' | 'write' | 'pure' | 'control';

export interface DomainTool {
  readonly name: string;
  readonly effect: ToolEffect;
  /** Set when a call pays, refunds or promises money. */
  readonly money?: boolean;
  /** Names of the parameters, all required, in the order of the schema. */
  readonly parameters: readonly string[];
  /** Set when only one generation of the benchmark has the tool. */
  readonly only?: Dialect;
  readonly run: ToolCode;
}

export interface Domain extends DatabaseShape {
  readonly name: string;
  /** What the recorded programs call the class of the tools; complaints about arguments show it. */
  readonly className: string;
  readonly tools: ReadonlyMap<string, DomainTool>;
}

/** A domain's tools by name. */
export function byName(tools: readonly DomainTool[]): ReadonlyMap<string, DomainTool> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** Whether calls of this name change records; a tool that nobody has changes nothing. */
export function isWrite(domain: Domain, name: string): boolean {
  return domain.tools.get(name)?.effect === 'write';
}

export interface ToolAnswer {
  readonly content: string;
  readonly error: boolean;
}

export interface NamedCall {
  readonly name: string;
  readonly args: PyObject;
}

/**
 * Runs one call on a world. A refusal is an answer with `error`, never an exception; whether the
 * world's stage is kept is the caller's decision, and only an answer without error deserves it.
 */
export function runTool(domain: Domain, world: World, { name, args }: NamedCall): ToolAnswer {
  const tool = domain.tools.get(name);
  if (tool === undefined || (tool.only ?? world.dialect) !== world.dialect) {
    const tau2 = world.dialect === 'tau2';
    return {
      content: tau2 ? `Error: Tool '${name}' not found.` : `Unknown action ${name}`,
      error: true,
    };
  }
  try {
    const signature = {
      dialect: world.dialect,
      className: domain.className,
      tool: name,
      parameters: tool.parameters,
    };
    return { content: tool.run(world, bindArguments(signature, args)), error: false };
  } catch (error) {
    if (error instanceof ToolError) return { content: `Error: ${error.message}`, error: true };
    throw error;
  }
}
