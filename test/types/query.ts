/** What the compiler says of queries; `types.test.ts` has it look. Nothing here is run. */
import { openStore, query, runOrThrow, type HoldfastClient, type SDKMessage } from '../../index.js';

declare const client: HoldfastClient;

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function same<A, B>(equal: Equal<A, B>): void;

export async function messages(): Promise<void> {
  for await (const message of query({ prompt: 'x', options: { agent: 'a', client } })) {
    same<typeof message, SDKMessage>(true);
    switch (message.type) {
      case 'assistant': {
        const [block] = message.message.content;
        if (block?.type === 'text') same<typeof block.text, string>(true);
        // @ts-expect-error a block of a reply is a text or a call
        if (block?.type === 'tool_result') break;
        break;
      }
      case 'result':
        same<(typeof message)['is_error'], boolean>(true);
        // @ts-expect-error only a completed run has a result
        void message.result;
        if (message.subtype === 'success') same<typeof message.result, string>(true);
        else same<typeof message.errors, readonly string[]>(true);
        break;
      case 'system':
        // @ts-expect-error only init names the model
        void message.model;
        if (message.subtype === 'init') same<typeof message.model, string>(true);
        break;
      case 'tool_progress':
        same<typeof message.elapsed_time_seconds, number>(true);
        // @ts-expect-error progress carries no status
        void message.status;
        break;
      case 'stream_event':
      case 'user':
        break;
      default:
        same<typeof message, never>(true);
    }
    same<typeof message.seq, number>(true);
    // @ts-expect-error messages are not changed by who reads them
    message.seq = 1;
  }
}

export function options(): void {
  void query({ prompt: { goal: 'x', caller: 'mia' }, options: { agent: 'a', client } });
  void query({ prompt: 'x', options: { agent: 'a', connection: { address: 'localhost:7233' } } });
  void query({ runId: 'run_1', afterSeq: 4, options: { client } });
  // @ts-expect-error a query needs an agent
  void query({ prompt: 'x', options: { client } });
  // @ts-expect-error a query needs a client or a connection
  void query({ prompt: 'x', options: { agent: 'a' } });
  // @ts-expect-error not both
  void query({ prompt: 'x', options: { agent: 'a', client, connection: {} } });
  // @ts-expect-error a run that exists has its goal
  void query({ runId: 'run_1', prompt: 'x', options: { client } });
  // @ts-expect-error there is no such mode
  void query({ prompt: 'x', options: { agent: 'a', client, permissionMode: 'yolo' } });
  // @ts-expect-error instructions belong to the agent
  void query({ prompt: 'x', options: { agent: 'a', client, systemPrompt: 'x' } });
  // @ts-expect-error a number of turns is a number
  void query({ prompt: 'x', options: { agent: 'a', client, maxTurns: '5' } });
  // @ts-expect-error a budget has no such limit
  void query({ prompt: 'x', options: { agent: 'a', client, budget: { maxSteps: 5 } } });
}

export function callbacks(): void {
  const options = { agent: 'a', client };
  void query({
    prompt: 'x',
    options: {
      ...options,
      canUseTool: async (tool, input, { signal, ask }) => {
        same<typeof tool, string>(true);
        same<typeof signal, AbortSignal>(true);
        same<typeof ask.expiresAt, number>(true);
        return { behavior: 'allow', updatedInput: { ...input, amountCents: 1 } };
      },
    },
  });
  // @ts-expect-error a yes is not an answer
  void query({ prompt: 'x', options: { ...options, canUseTool: async () => true } });
  void query({
    prompt: 'x',
    // @ts-expect-error a no says why
    options: { ...options, canUseTool: async () => ({ behavior: 'deny' }) },
  });
}

export async function controls(): Promise<void> {
  const run = query({ prompt: 'x', options: { agent: 'a', client } });
  await run.setMaxThinkingTokens(null);
  // @ts-expect-error there is no such mode
  await run.setPermissionMode('yolo');
  same<Awaited<ReturnType<typeof run.sessionId>>, string>(true);
  const { result } = await runOrThrow({ prompt: 'x', options: { agent: 'a', client } });
  same<typeof result, string>(true);
  const store = await openStore({ file: 'store.db' });
  const own = { agent: 'a', connection: { store } };
  // A conversation, as a generator or as whole messages.
  async function* talk() {
    yield 'Hello';
    yield { type: 'user', message: { role: 'user', content: 'Bye' } } as const;
  }
  void query({ prompt: talk(), options: own });
  // @ts-expect-error messages come one by one
  void query({ prompt: ['Hello', 'Bye'], options: own });
}
