/** Servers of connectors (MCP) in a case: what they are, what they say of their tools, and what becomes of them. */
import type { Json } from '../core/json/json.js';
import type { ToolEffect } from '../core/state/tool.js';

type JsonObject = { readonly [key: string]: Json };

/** Of a tool that a server of the case has. */
export interface ServedTool {
  readonly server: string;
  /** As the server names it. */
  readonly tool: string;
  readonly annotations?: JsonObject;
  /** What the configuration says that it does; absent: what the server says decides. */
  readonly effect?: ToolEffect;
  /** What the configuration calls its version. */
  readonly version?: string;
}

export type ServerState = 'up' | 'down' | 'hanging';

/** A server of a connector, as its configuration and its script have it. */
export interface CaseServer {
  readonly name: string;
  readonly trusted: boolean;
  readonly elicitation?: 'ask' | 'defaults';
  readonly required: boolean;
  readonly protocol: 'modern' | 'legacy';
  /** Its next answer to a call says that its list has changed. */
  readonly notifies: boolean;
  /** At the start of the case. */
  readonly is: ServerState;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly timeoutMs: number;
  readonly connectTimeoutMs?: number;
  readonly maxResultBytes?: number;
}

/** What is said of a tool in place of what was said before. */
export interface ServerToolChange {
  readonly description?: string;
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
}

export interface ServerChange {
  readonly kind: 'server';
  readonly name: string;
  readonly is?: ServerState;
  /** By the name that runs have for the tool; null: the server has it no more. */
  readonly tools?: { readonly [tool: string]: ServerToolChange | null };
}
