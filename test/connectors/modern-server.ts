/** A server of the modern protocol (2026-07-28) on loopback, made with the vendor's handler; its tools can change. */
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server, type CallToolResult } from '@modelcontextprotocol/server';

export interface ServedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: object;
  readonly outputSchema?: object;
  readonly annotations?: object;
  /** What a call gives: a text, or a whole result. */
  readonly run: (args: Record<string, unknown>, call: ServedCall) => unknown;
}

export interface ServedCall {
  readonly responses: Record<string, unknown> | undefined;
  readonly state: string | undefined;
  readonly signal: AbortSignal;
  progress(progress: number, message: string): Promise<void>;
}

export interface ModernServer {
  readonly url: string;
  /** Names of the tools that were called, in order. */
  readonly calls: string[];
  /** Headers of the newest request. */
  headers(): Record<string, unknown>;
  /** From now on it has these. */
  offer(tools: readonly ServedTool[]): void;
  /** As after a crash: every connection is cut. */
  kill(): Promise<void>;
  /** On the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const OBJECT = { type: 'object', properties: {} };

export async function startModernServer(tools: readonly ServedTool[]): Promise<ModernServer> {
  let offered = tools;
  let headers: Record<string, unknown> = {};
  const calls: string[] = [];
  const handler = createMcpHandler(() => {
    const server = new Server(
      { name: 'modern', version: '3' },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.setRequestHandler('tools/list', () => ({
      tools: offered.map((tool) => ({ inputSchema: OBJECT, ...tool, run: undefined })) as never,
    }));
    server.setRequestHandler('tools/call', async ({ params }, ctx) => {
      calls.push(params.name);
      const tool = offered.find(({ name }) => name === params.name);
      if (tool === undefined) throw new Error('unknown tool');
      const { inputResponses, signal } = ctx.mcpReq;
      const token = params._meta?.progressToken;
      const result = await tool.run(params.arguments ?? {}, {
        responses: inputResponses,
        state: ctx.mcpReq.requestState() as string | undefined,
        signal,
        progress: async (progress, message) => {
          if (token === undefined) return;
          const note = { progressToken: token, progress, message };
          await ctx.mcpReq.notify({ method: 'notifications/progress', params: note });
        },
      });
      return typeof result === 'string'
        ? { content: [{ type: 'text', text: result }] }
        : (result as CallToolResult);
    });
    return server;
  });
  const node = toNodeHandler(handler);
  const listen = (port: number): Promise<HttpServer> =>
    new Promise((resolve) => {
      const http = createServer((request, response) => {
        headers = request.headers;
        void node(request, response);
      });
      http.listen(port, '127.0.0.1', () => resolve(http));
    });
  let http = await listen(0);
  const { port } = http.address() as AddressInfo;
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      http.close(() => resolve());
      http.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    calls,
    headers: () => headers,
    offer(next) {
      offered = next;
      handler.notify.toolsChanged();
    },
    kill,
    async restart() {
      http = await listen(port);
    },
    async stop() {
      await handler.close();
      await kill();
    },
  };
}
