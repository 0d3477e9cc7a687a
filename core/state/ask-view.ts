/** A question as everybody sees it. */
import type { Json } from '../json/json.js';
import type { Elicitation } from './elicitation.js';
import type { Escalation } from './ask.js';
import type { AskKind } from './ask-kinds.js';
import type { LimitsOutlook } from '../controls/outlook.js';
import type { Repeats } from '../controls/repeats.js';
import type { ToolCard } from './tool-card.js';

export interface AskView {
  readonly askId: string;
  readonly kind: AskKind;
  readonly callId?: string;
  readonly callKey?: string;
  readonly tool?: string;
  readonly toolVersion?: string;
  readonly args?: Json;
  /** What a decision must echo (G11). */
  readonly argsHash: string;
  readonly question?: string;
  readonly roles: readonly string[];
  readonly quorum: number;
  readonly policyVersion: string;
  readonly requestedBy?: string;
  /** Of a goal: they said something to it since its last cycle, and decide nothing in it. */
  readonly steeredBy?: readonly string[];
  readonly openedAt: number;
  readonly expiresAt: number;
  /** From when on others may decide as well. */
  readonly escalation?: Escalation;
  /** The same was done before: it is asked whether to do it once more. */
  readonly repeats?: Repeats;
  /** What is used up of the limits of its tool, when it was proposed. */
  readonly limits?: LimitsOutlook;
  /** Which arguments the card shows first, as the tool declares. */
  readonly card?: ToolCard;
  /** Of a question of the model: only the caller, or only others, may answer. */
  readonly answeredBy?: 'customer' | 'staff';
  /** The server of a tool asks, in the middle of its call: the form of its answer, or an address. */
  readonly elicitation?: Elicitation;
}
