/** Reads a results file of tau2-bench: `{info, simulations: [{task_id, trial, messages}]}`. */
import { z } from 'zod';
import { checked } from './data-file.js';
import type { RawMessage, RawRun } from './recording-turns.js';
import {
  CALLS_MAX,
  MESSAGES_MAX,
  RUNS_MAX,
  argumentsSchema,
  idSchema,
  isRefusal,
  textSchema,
} from './recording-limits.js';

const callSchema = z.object({
  id: idSchema,
  name: z.string().min(1).max(200),
  arguments: argumentsSchema.nullish(),
});

const usageSchema = z.object({
  prompt_tokens: z.number().int().nonnegative(),
  completion_tokens: z.number().int().nonnegative(),
});

const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: textSchema.nullish() }),
  z.object({ role: z.literal('user'), content: textSchema.nullish() }),
  z.object({
    role: z.literal('assistant'),
    content: textSchema.nullish(),
    tool_calls: z.array(callSchema).max(CALLS_MAX).nullish(),
    usage: usageSchema.nullish().catch(null),
    cost: z.number().nonnegative().nullish().catch(null),
  }),
  z.object({
    role: z.literal('tool'),
    id: idSchema,
    content: textSchema.nullish(),
    error: z.boolean().nullish(),
    requestor: z.enum(['assistant', 'user']).nullish(),
  }),
]);

const resultsSchema = z.object({
  info: z
    .object({ environment_info: z.object({ policy: textSchema }).nullish() })
    .nullish()
    .catch(null),
  simulations: z
    .array(
      z.object({
        task_id: z.union([z.string().max(500), z.number()]),
        trial: z.number().int().nonnegative().nullish(),
        termination_reason: z.string().max(200).nullish(),
        messages: z.array(messageSchema).max(MESSAGES_MAX).nullable(),
      }),
    )
    .max(RUNS_MAX),
});

/** The runs of a tau2-bench results file. */
export function readTau2(data: unknown): RawRun[] {
  const results = checked(resultsSchema, data, 'a tau2-bench results file');
  const policy = results.info?.environment_info?.policy;
  return results.simulations.map((simulation) => ({
    taskId: String(simulation.task_id),
    trial: simulation.trial ?? 0,
    ...(policy === undefined ? {} : { systemPrompt: policy }),
    ...(simulation.termination_reason == null
      ? {}
      : { termination: simulation.termination_reason }),
    messages: (simulation.messages ?? []).flatMap(rawMessage),
  }));
}

function rawMessage(message: z.infer<typeof messageSchema>, at: number): RawMessage[] {
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      // A customer's own tool call has no text; the words that follow it are the turn.
      return message.content == null ? [] : [{ role: 'user', at, text: message.content }];
    case 'assistant':
      return [
        {
          role: 'assistant',
          at,
          text: message.content ?? null,
          calls: (message.tool_calls ?? []).map((call) => ({
            id: call.id,
            name: call.name,
            args: call.arguments ?? {},
          })),
          ...(message.usage == null
            ? {}
            : {
                usage: {
                  input: message.usage.prompt_tokens,
                  output: message.usage.completion_tokens,
                },
              }),
          ...(message.cost == null ? {} : { costUsd: message.cost }),
        },
      ];
    case 'tool':
      return [
        {
          role: 'tool',
          at,
          id: message.id,
          content: message.content ?? '',
          error: message.error === true || isRefusal(message.content ?? ''),
          byUser: message.requestor === 'user',
        },
      ];
  }
}
