/** What the API gives, by the declarations that its routes are made of: a change there shows here. */
import type { z } from 'zod';
import type * as cards from '../../http/card-shapes.js';
import type * as connectors from '../../http/connector-shapes.js';
import type * as controls from '../../http/control-shapes.js';
import type * as forks from '../../http/fork-shapes.js';
import type * as goals from '../../http/goal-shapes.js';
import type * as shapes from '../../http/shapes.js';
import type * as recorded from '../../http/step-shapes.js';
import type * as trees from '../../http/tree-shapes.js';
import type { WholeEvent as RunEvent } from '../../../pure/sdk/projection.js';
import type { StreamChunk } from '../../../pure/stream.js';
import type { RunResult } from '../../../core/state/result.js';

export type { RunEvent, StreamChunk, RunResult };

export type Ask = z.output<typeof cards.inboxItem>;
export type InboxPage = z.output<typeof shapes.inboxPage>;
export type ListedAsk = InboxPage['items'][number];
export type Grounds = z.output<typeof cards.grounds>;
export type Excerpt = NonNullable<Grounds['goal']>;
export type Attempt = Grounds['attempts'][number];
/** As the API and as events give it. */
export type RecoveryStep = Omit<NonNullable<Attempt['steps']>[number], 'by'> & {
  readonly by?: readonly string[] | undefined;
};
export type Run = z.output<typeof shapes.run>;
export type RunDetail = z.output<typeof shapes.runDetail>;
export type RunState = z.output<typeof shapes.runState>;
export type Wait = z.output<typeof shapes.runWaits>['waits'][number];
export type StandingGrant = NonNullable<RunState['grants']>[number];
export type GrantCondition = StandingGrant['when'][number];
export type Person = z.output<typeof shapes.person>;
export type TextPiece = z.output<typeof cards.textPiece>;
export type AuditRow = z.output<typeof shapes.auditRow>;
export type Freeze = z.output<typeof controls.freeze>;
export type Connector = z.output<typeof connectors.connector>;
export type ConnectorTool = Connector['tools'][number];
export type Delivery = z.output<typeof shapes.delivery>;

export type RunTree = z.output<typeof trees.runTree>;
export type TreeRun = RunTree['runs'][number];

export type StepsIndex = z.output<typeof recorded.stepsIndex>;
export type RunDiff = z.output<typeof recorded.diff>;
export type Moment = z.output<typeof recorded.moment>;

export type DryFork = z.output<typeof forks.dryFork>;
export type ForkStarted = z.output<typeof forks.forkStarted>;

export type Goal = z.output<typeof goals.goal>;
export type GoalDetail = z.output<typeof goals.goalDetail>;
export type GoalRecord = NonNullable<GoalDetail['record']>;
export type PlanStep = GoalRecord['plan']['steps'][number];
export type GoalReview = GoalRecord['reviews'][number];
export type GoalBrief = z.output<typeof goals.brief>;
export type Evidence = z.output<typeof goals.evidence>;
export type Told = z.output<typeof goals.told>;
export type GoalCard = NonNullable<Ask['goal']>;

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A part of JSON Schema: what forms understand. Everything else is edited as JSON. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
}

export interface FailureGroup {
  readonly stopReason: string;
  readonly detail: string | null;
  readonly rule: string | null;
  readonly tool: string | null;
  readonly code: string | null;
  readonly count: number;
  readonly newest: { readonly runId: string; readonly agent: string; readonly endedAt: number };
  readonly costMicroUsd: number;
  /** Runs in equal parts of the time, the oldest first. */
  readonly over: readonly number[];
}

export interface Failures {
  readonly since: number;
  readonly until: number;
  readonly ended: number;
  readonly failed: number;
  readonly groups: readonly FailureGroup[];
  readonly truncated: boolean;
}
