/** One tool that the server offers to other agents: what it takes, which right it needs, which requests it makes. */
import type { z } from 'zod';
import type { AgentDecisions } from '../../authoring/index.js';
import type { Access } from '../identity/access.js';
import type { ProblemBody } from '../http/problem.js';
import type { DeskAnswer, DeskCall } from './desk-call.js';

export interface ToolContext {
  readonly desk: DeskCall;
  /** Absent: the configuration allows no decisions. */
  readonly decisions?: AgentDecisions | undefined;
}

interface Declaration<I extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Whoever has not this right is not offered the tool; the routes refuse it as well. */
  readonly access: Access;
  readonly input: I;
  readonly hints: ToolHints;
  /** Errors: {@link Refused}. */
  run(context: ToolContext, args: z.output<I>): Promise<object>;
}

interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: boolean;
}

export type ServerTool = Declaration<z.ZodObject>;

export const READS: ToolHints = { readOnlyHint: true, openWorldHint: false };

/** The types of a declaration are for its author; whoever calls it parses first. */
export function serverTool<I extends z.ZodObject>(declared: Declaration<I>): ServerTool {
  return declared as unknown as ServerTool;
}

/** What a caller is told when a tool does not do what was asked. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.name = 'Refused';
    this.refusal = refusal;
  }
}

/** The body of an answer. Errors: Refused, in the words of the desk. */
export function taken({ status, body }: DeskAnswer): Readonly<Record<string, unknown>> {
  if (status >= 200 && status < 300) return body;
  const { code, detail, hint, errors, title } = body as Partial<ProblemBody>;
  const fault = errors?.[0];
  const said = detail ?? title ?? 'The desk refused the request.';
  throw new Refused({
    code: code ?? 'failed',
    message: fault === undefined ? said : `${said} ${fault.path}: ${fault.message}`,
    // Hints name routes of the desk, which callers of tools do not have.
    ...(hint !== undefined && !hint.includes('/v1/') && { hint }),
  });
}
