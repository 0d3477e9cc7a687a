/** Scripts as files: `{"runs": {"<run id or *>": [reply or [reply per attempt], …]}}`. */
import { z } from 'zod';
import { HoldfastError } from '../../core/state/errors.js';
import { scriptOfRuns, type Script, type ScriptedAnswer } from './script.js';

const count = z.number().int().min(0);
const json = z.json();

const call = z.strictObject({
  id: z.string().optional(),
  tool: z.string().min(1),
  input: json.optional(),
  rawInput: z.string().optional(),
});

const message = z.strictObject({
  thinking: z.string().optional(),
  text: z.string().optional(),
  calls: z.array(call).optional(),
  stopReason: z.string().optional(),
  stopSequence: z.string().optional(),
  stopDetails: json.optional(),
  contextManagement: json.optional(),
  usage: z
    .strictObject({ input: count, output: count, cacheRead: count, cacheWrite: count })
    .partial()
    .optional(),
  delayMs: count.optional(),
  chunks: count.min(1).optional(),
  chunkDelayMs: count.optional(),
  cutAfterChunks: count.optional(),
  cutAfterBytes: count.optional(),
  endAfterChunks: count.optional(),
  stallAfterChunks: count.optional(),
  stallWith: z.enum(['silence', 'pings']).optional(),
  errorEventAfterChunks: count.optional(),
  errorType: z.string().optional(),
});

const failure = z.strictObject({
  status: z.number().int().min(200).max(599),
  errorType: z.string().optional(),
  errorCode: z.string().optional(),
  message: z.string().optional(),
  retryAfterSeconds: z.number().min(0).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  shouldRetry: z.boolean().optional(),
  delayMs: count.optional(),
});

const garbage = z.strictObject({ garbage: z.string(), contentType: z.string().optional() });
const reply = z.union([message, failure, garbage]);
const answer = z.union([reply, z.array(reply).min(1)]);
const file = z.strictObject({ runs: z.record(z.string(), z.array(answer)) });

/** Reads the text of a script file; InvalidConfig says where it is wrong. */
export function parseScriptFile(text: string): Script {
  const parsed = file.safeParse(parseJson(text));
  if (!parsed.success) {
    throw new HoldfastError('InvalidConfig', 'The script file is not valid.', {
      hint: z.prettifyError(parsed.error).slice(0, 2000),
    });
  }
  // Entries, not property access: a run may be called "constructor".
  return scriptOfRuns(new Map(Object.entries(parsed.data.runs) as [string, ScriptedAnswer[]][]));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HoldfastError('InvalidConfig', 'The script file is not JSON.', { cause: error });
  }
}
