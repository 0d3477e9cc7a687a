/**
 * A server of a case. The client of connectors speaks to it as to any other: what it is sent are requests of HTTP, and what it
 * answers are responses.
 * Invariant: who gives a request up hears nothing of it any more.
 */
import type { Json } from '../../core/json/json.js';
import type { Fetch } from '../../connectors/index.js';
import type { SeenServerCall } from '../engine.js';
import type { CaseTool } from '../fixture.js';
import type { CaseServer, ServerChange } from '../server-case.js';
import { ServerCalls, type Caller } from './server-calls.js';
import {
  ended,
  introduction,
  json,
  METHOD_UNKNOWN,
  PARAMS_REFUSED,
  refusal,
  stream,
  type Message,
} from './messages.js';

const LIST_CHANGED = { method: 'notifications/tools/list_changed' };

const ACCEPTED = 202;
const NO_STREAM = 405;
const UNCONNECTED = 'ECONNREFUSED';

export interface ServerDouble {
  readonly fetch: Fetch;
  /** Those that arrived, in order. */
  readonly calls: readonly SeenServerCall[];
  change(change: ServerChange): void;
}

export interface ServerPlace {
  /** Who makes the request that is being served. */
  readonly caller: () => Caller;
  /** Waits until the request is given up. */
  readonly forEver: (signal: AbortSignal | null | undefined) => Promise<never>;
}

/** What a server says of a tool. */
interface Told {
  readonly description: string;
  readonly inputSchema: Json;
  readonly outputSchema?: Json;
  readonly annotations?: Json;
}

export function serverDouble(
  server: CaseServer,
  tools: readonly CaseTool[],
  { caller, forEver }: ServerPlace,
): ServerDouble {
  const { protocol } = server;
  let { is } = server;
  /** The list has changed, and nobody was told. */
  let isUntold = false;
  const seen: SeenServerCall[] = [];
  const listed = new ListedTools(tools);
  const answers = new ServerCalls(protocol, caller);

  async function callTool(message: Message): Promise<Response> {
    const { id, params = {} } = message;
    const { name, arguments: given = {}, inputResponses, requestState } = params;
    const tool = listed.find(String(name));
    if (tool === undefined) return refusal(id, PARAMS_REFUSED, `There is no tool ${String(name)}.`);
    const input = given as Json;
    seen.push({
      tool: String(name),
      input,
      ...(inputResponses !== undefined && { answers: inputResponses as Json }),
      ...(typeof requestState === 'string' && { state: requestState }),
    });
    const answer = await answers.answer(tool, { id, params, input });
    if (!isUntold || !answer.headers.get('content-type')?.includes('json')) return answer;
    isUntold = false;
    return stream([LIST_CHANGED, JSON.parse(await answer.text()) as object]);
  }

  async function serve(
    message: Message,
    signal: AbortSignal | null | undefined,
  ): Promise<Response> {
    const { id, method } = message;
    if (method === undefined) answers.told(message);
    if (method === undefined || id === undefined) return new Response(null, { status: ACCEPTED });
    if (is === 'hanging') return forEver(signal);
    const introduced = introduction(server, method);
    if (introduced !== undefined) return json(id, { result: introduced });
    if (method === 'tools/call') return callTool(message);
    if (method !== 'tools/list') return refusal(id, METHOD_UNKNOWN, 'Method not found');
    return json(id, { result: { tools: listed.all(), ...ended(protocol) } });
  }

  return {
    calls: seen,
    async fetch(_, init) {
      if (is === 'down') throw unconnected();
      const { method, body, signal } = init ?? {};
      if (method !== 'POST' || typeof body !== 'string') {
        return new Response(null, { status: NO_STREAM });
      }
      return withinSignal(serve(JSON.parse(body) as Message, signal), signal);
    },
    change(change) {
      is = change.is ?? is;
      listed.change(change);
      isUntold ||= server.notifies && change.tools !== undefined;
    },
  };
}

/** The tools as the server describes them now. */
class ListedTools {
  private readonly told: Map<CaseTool, Told>;

  constructor(private readonly tools: readonly CaseTool[]) {
    this.told = new Map(tools.map((tool) => [tool, toldOf(tool)]));
  }

  /** By the server's own name. */
  find(name: string): CaseTool | undefined {
    return [...this.told.keys()].find(({ served }) => served?.tool === name);
  }

  all(): readonly object[] {
    return [...this.told].map(([{ served }, told]) => ({ name: served?.tool, ...told }));
  }

  change({ tools: changed = {} }: ServerChange): void {
    for (const [name, change] of Object.entries(changed)) {
      const tool = this.tools.find((one) => one.name === name);
      if (tool === undefined) continue;
      if (change === null) this.told.delete(tool);
      else this.told.set(tool, { ...toldOf(tool), ...this.told.get(tool), ...(change as Told) });
    }
  }
}

function toldOf({ description, inputSchema, outputSchema, served }: CaseTool): Told {
  return {
    description,
    inputSchema: inputSchema as Json,
    ...(outputSchema !== undefined && { outputSchema: outputSchema as Json }),
    ...(served?.annotations !== undefined && { annotations: served.annotations }),
  };
}

/** As fetch says it. */
function unconnected(): TypeError {
  const cause = Object.assign(new Error('connection refused'), { code: UNCONNECTED });
  return new TypeError('fetch failed', { cause });
}

function withinSignal(
  work: Promise<Response>,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  if (signal === null || signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
