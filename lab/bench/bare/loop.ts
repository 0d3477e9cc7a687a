/**
 * The reference: a bare Temporal loop of one model and one tool activity per turn, without validation,
 * budget, ledger or store. What it hands to the model activity is the measured variable; with `gated` it
 * waits for a signal before it calls that tool.
 */
import {
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { BareMessage, BareReply } from './messages.js';

interface BareActivities {
  bare_model(input: BareModelInput): Promise<BareReply>;
  bare_tool(input: BareToolInput): Promise<string>;
}

export interface BareToolInput {
  readonly run: string;
  readonly name: string;
  readonly args: unknown;
}

export interface BareModelInput {
  readonly run: string;
  /** 'conversation': all messages so far. 'delta': only what is new, the worker remembers the rest. */
  readonly passes: 'conversation' | 'delta';
  readonly messages: readonly BareMessage[];
}

export interface BareInput {
  readonly run: string;
  readonly passes: 'conversation' | 'delta';
  readonly goal: string;
  readonly turnsMax: number;
  /** Waits for the signal `approve` before it calls this tool. */
  readonly gated?: string;
  /** The tool is a local activity. */
  readonly localTool?: true;
  /** Default 10 s. */
  readonly heartbeatMs?: number;
  /** Of a segment before, with 'delta': what the model has not been sent yet. */
  readonly continued?: { readonly turns: number; readonly messages: readonly BareMessage[] };
}

const approve = defineSignal('approve');
const waiting = defineQuery<boolean>('waiting');

export async function bareLoop(input: BareInput): Promise<number> {
  const { run, passes, continued } = input;
  const retry = { maximumAttempts: 20, initialInterval: 500 };
  const ordinary = proxyActivities<BareActivities>({
    startToCloseTimeout: 60_000,
    heartbeatTimeout: input.heartbeatMs ?? 10_000,
    retry,
  });
  const local = proxyLocalActivities<BareActivities>({ startToCloseTimeout: 1_000, retry });
  const { bare_model } = ordinary;
  const { bare_tool } = input.localTool ? local : ordinary;
  const gate = listen();
  const messages = [...(continued?.messages ?? [{ role: 'user' as const, content: input.goal }])];
  let sent = 0;
  for (let turn = (continued?.turns ?? 0) + 1; turn <= input.turnsMax; turn += 1) {
    const from = passes === 'delta' ? sent : 0;
    const reply = await bare_model({ run, passes, messages: messages.slice(from) });
    messages.push({ role: 'assistant', content: reply.content });
    sent = messages.length;
    const [call] = reply.calls;
    if (call === undefined) return turn;
    if (call.name === input.gated) await gate.opened();
    const output = await bare_tool({ run, name: call.name, args: call.input });
    const result = { type: 'tool_result', tool_use_id: call.id, content: output };
    messages.push({ role: 'user', content: [result] });
    if (passes === 'delta' && workflowInfo().continueAsNewSuggested) {
      const rest = { turns: turn, messages: messages.slice(sent) };
      return continueAsNew<typeof bareLoop>({ ...input, continued: rest });
    }
  }
  return input.turnsMax;
}

interface GateOfLoop {
  opened(): Promise<void>;
}

function listen(): GateOfLoop {
  let isWaiting = false;
  let isApproved = false;
  setHandler(waiting, () => isWaiting);
  setHandler(approve, () => {
    isApproved = true;
  });
  return {
    async opened() {
      isWaiting = true;
      await condition(() => isApproved);
      isWaiting = false;
    },
  };
}
