/**
 * The reference: a bare Temporal loop of one model and one tool activity per turn, without validation,
 * approval, budget, ledger or store. What it hands to the model activity is the measured variable.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { BareMessage, BareReply } from './messages.js';

interface BareActivities {
  bare_model(input: BareModelInput): Promise<BareReply>;
  bare_tool(input: { readonly name: string; readonly args: unknown }): Promise<string>;
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
}

const { bare_model, bare_tool } = proxyActivities<BareActivities>({
  startToCloseTimeout: 60_000,
  heartbeatTimeout: 10_000,
  retry: { maximumAttempts: 20 },
});

export async function bareLoop(input: BareInput): Promise<number> {
  const messages: BareMessage[] = [{ role: 'user', content: input.goal }];
  let sent = 0;
  for (let turn = 1; turn <= input.turnsMax; turn += 1) {
    const from = input.passes === 'delta' ? sent : 0;
    const reply = await bare_model({
      run: input.run,
      passes: input.passes,
      messages: messages.slice(from),
    });
    messages.push({ role: 'assistant', content: reply.content });
    sent = messages.length;
    const [call] = reply.calls;
    if (call === undefined) return turn;
    const output = await bare_tool({ name: call.name, args: call.input });
    messages.push({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: call.id, content: output }],
    });
  }
  return input.turnsMax;
}
