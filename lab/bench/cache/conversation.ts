/**
 * Conversations for the cache's bench: recorded ones where a recording lies beside the project, else made up. Texts and
 * results are played as they were recorded; nothing of them is kept.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readDataFile } from '../../proving/data-file.js';
import { readRecording, splitExchanges } from '../../proving/recording.js';
import type { AssistantTurn, RecordedRun, ToolTurn } from '../../proving/recorded-run.js';

export interface PlayedTool {
  readonly name: string;
  readonly description: string;
}

export interface Conversation {
  readonly id: string;
  readonly instructions: string;
  readonly tools: readonly PlayedTool[];
  /** What the customer says, and the replies until they speak again. */
  readonly exchanges: readonly {
    readonly said: string;
    readonly replies: readonly AssistantTurn[];
  }[];
  /** By the id of the call. */
  readonly results: { readonly [callId: string]: Pick<ToolTurn, 'content' | 'error'> };
}

export interface Conversations {
  /** Where they come from, for the report. */
  readonly source: string;
  readonly list: readonly Conversation[];
}

const RECORDINGS = [
  {
    file: 'material/tau-bench/trajectories/gpt-4o-airline.json',
    tools: 'material/tau-bench/airline/tools.json',
  },
  {
    file: 'material/tau2-bench/trajectories/retail/gpt-4.1_40.json',
    tools: 'material/tau-bench/retail/tools.json',
    policy: 'material/tau-bench/retail/wiki.md',
  },
] as const;
const MADE_UP_TURNS = [8, 20, 24, 30];

/** Model replies of a conversation. */
export function turnsOf({ exchanges }: Conversation): number {
  return exchanges.reduce((sum, { replies }) => sum + replies.length, 0);
}

/** The `count` longest of each recording below one of the folders. */
export function conversations(folders: readonly string[], count: number): Conversations {
  const found = RECORDINGS.flatMap((recording) => {
    const folder = folders.find((one) => existsSync(join(one, recording.file)));
    return folder === undefined ? [] : [{ ...recording, folder }];
  });
  const list = found.flatMap(({ folder, file, tools, ...rest }) => {
    const declared = toolsIn(join(folder, tools));
    const policy = 'policy' in rest ? textOf(join(folder, rest.policy)) : '';
    const { runs } = readRecording(join(folder, file));
    return longest(
      runs.map((run) => recorded(run, declared, policy)),
      count,
    );
  });
  if (list.length === 0) {
    return { source: 'made up, no recording found', list: MADE_UP_TURNS.map(madeUp) };
  }
  return { source: `recorded, of ${found.map(({ file }) => file).join(' and ')}`, list };
}

function longest(list: readonly Conversation[], count: number): readonly Conversation[] {
  return list.toSorted((a, b) => turnsOf(b) - turnsOf(a)).slice(0, count);
}

function recorded(run: RecordedRun, tools: readonly PlayedTool[], policy: string): Conversation {
  const exchanges = splitExchanges(run).flatMap(({ userTexts, turns }) => {
    const replies = turns.filter((turn) => turn.role === 'assistant');
    return replies.length === 0 ? [] : [{ said: userTexts.join('\n'), replies }];
  });
  const results = run.turns.flatMap((turn) =>
    turn.role === 'tool' ? [[turn.id, { content: turn.content, error: turn.error }] as const] : [],
  );
  const called = run.turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls : []));
  const unknown = new Set(called.map(({ name }) => name).filter((name) => !names(tools).has(name)));
  return {
    id: run.id,
    instructions: run.systemPrompt ?? policy,
    tools: [...tools, ...[...unknown].map((name) => ({ name, description: 'Made up.' }))],
    exchanges,
    results: Object.fromEntries(results),
  };
}

function names(tools: readonly PlayedTool[]): ReadonlySet<string> {
  return new Set(tools.map(({ name }) => name));
}

const toolsSchema = z.array(
  z.object({
    schema: z.object({
      function: z.object({
        name: z.string(),
        description: z.string(),
        parameters: z.looseObject({}),
      }),
    }),
  }),
);

/** Arguments are taken as they were recorded, so the schema is told in words: it has its size all the same. */
function toolsIn(file: string): readonly PlayedTool[] {
  return toolsSchema.parse(readDataFile(file)).map(({ schema }) => {
    const { name, description, parameters } = schema.function;
    return { name, description: `${description} ${JSON.stringify(parameters)}` };
  });
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

const READ_BYTES = 900;
const PROMPT_BYTES = 6_000;
const REPLY_BYTES = 300;

/** One call a turn and an answer now and then, of about the recorded sizes. */
function madeUp(turns: number): Conversation {
  const calls = Array.from({ length: turns }, (_, at): AssistantTurn => {
    const answers = at % 4 === 3 || at === turns - 1;
    return answers
      ? { role: 'assistant', text: `Answer ${at}. ${'y'.repeat(REPLY_BYTES)}`, calls: [] }
      : {
          role: 'assistant',
          text: null,
          calls: [{ id: `call_${at}`, name: 'look', args: { orderId: `O-${at}` } }],
        };
  });
  const exchanges: { said: string; replies: AssistantTurn[] }[] = [];
  for (const [at, reply] of calls.entries()) {
    if (at % 4 === 0) exchanges.push({ said: `Question ${at}: where is my order?`, replies: [] });
    exchanges.at(-1)?.replies.push(reply);
  }
  return {
    id: `made-up-${turns}`,
    instructions: `Help the customer. ${'Be exact. '.repeat(PROMPT_BYTES / 10)}`,
    tools: [{ name: 'look', description: 'Looks at one order.' }],
    exchanges,
    results: Object.fromEntries(
      calls.map((_, at) => [
        `call_${at}`,
        { content: `Order ${at}: ${'x'.repeat(READ_BYTES)}`, error: false },
      ]),
    ),
  };
}
