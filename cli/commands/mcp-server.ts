/** `holdfast mcp-server`: offers runs, goals and what waits for people to other agents, as tools of MCP. */
import { Writable } from 'node:stream';
import { Option, type Command } from 'commander';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { openDesk } from '../desk/desk.js';
import { readConfig } from '../serve.js';
import type { Session } from '../session.js';
import { aborted, onInterrupt } from '../terminal/interrupt.js';
import type { Output } from '../terminal/output.js';
import { collect, usage, wholeNumber } from '../usage.js';
import { withConfig } from './worker.js';

interface McpServerOptions extends CommonOptions {
  readonly http?: boolean;
  readonly port?: number;
  readonly as?: string;
  readonly role?: readonly string[];
}

const PORT = 8586;
const LOCAL_TOKEN = /^hf_local_/;

const ABOUT = `Over standard input and output the server serves one caller: whoever HOLDFAST_TOKEN names, a service token
of console.serviceTokens; in local development whoever --as names. Over HTTP each request says by its
bearer token who calls. The rights of a caller are those of console.access; console.starts and
console.mcpServer limit starts and decisions.`;

export function addMcpServer(program: Command, cli: Cli): void {
  const command = program
    .command('mcp-server')
    .description(
      'Offer runs, goals and what waits for people to other agents, as tools of MCP. Ctrl-C ends it; runs go on.',
    )
    .option('--http', 'serve over HTTP (streamable) in place of standard input and output')
    .addOption(
      new Option(
        '--port <number>',
        `port of --http (default ${PORT}, 0 takes a free one)`,
      ).argParser((text: string) => wholeNumber('A port', [0, 65_535])(text)),
    )
    .option(
      '--as <name>',
      'the caller over standard input; in local development only (default agent)',
    )
    .option('--role <role>', 'with --as: a role of theirs; repeatable', collect);
  withJson(withPlace(withConfig(command)), 'with --http one line {mcp, token} when it is usable')
    .addHelpText('after', `\n${ABOUT}\n`)
    .addHelpText(
      'after',
      examples(
        'holdfast mcp-server                      # a client of MCP starts this command',
        'holdfast mcp-server --http --port 9100',
      ),
    )
    .action((options: McpServerOptions) => serve(cli, options));
}

async function serve(cli: Cli, options: McpServerOptions): Promise<void> {
  const { http, port, as, role, json } = options;
  if (http && (as !== undefined || role !== undefined)) {
    throw usage('--as and --role name the caller of standard input: over HTTP tokens do.');
  }
  if (!http && port !== undefined) throw usage('--port goes with --http.');
  if (!http && json) throw usage('--json goes with --http: standard output is the protocol’s.');
  const kept = http ? undefined : keepStandardOutput();
  const interrupt = onInterrupt();
  try {
    await runCommand(cli, options, async (session, output) => {
      const opened = await opening(cli, session, output);
      try {
        const server = await started(cli, options, { opened, output, kept: kept?.stream });
        await Promise.race([server.ended, aborted(interrupt.signal)]);
        await server.stop();
        output.remark('The server has ended; runs go on.');
      } finally {
        await opened.close();
      }
    });
  } finally {
    interrupt.release();
    kept?.release();
  }
}

async function opening(cli: Cli, session: Session, output: Output) {
  const { environment } = cli;
  const { place } = session;
  const config = await readConfig(place, environment.folder);
  const reach = await session.reach(config.connection);
  return openDesk(environment, { place, reach, config, makeKey: false }, output);
}

interface Starting {
  readonly opened: Awaited<ReturnType<typeof opening>>;
  readonly output: Output;
  readonly kept: Writable | undefined;
}

async function started(
  { environment, input }: Cli,
  { http, port = PORT, as, role }: McpServerOptions,
  { opened, output, kept }: Starting,
) {
  const { startMcpHttp, startMcpStdio } = await import('../../console/mcp-server/index.js');
  if (http || kept === undefined) {
    const running = await startMcpHttp(opened.options, port);
    const { url, token } = running;
    output.data({ mcp: url, token: token ?? null });
    output.line(`MCP server       ${url}`);
    if (token !== undefined) output.line(`Token            ${token}`);
    output.remark('Ready. Ctrl-C ends it.');
    return running;
  }
  const { HOLDFAST_TOKEN: given = '' } = environment.variables;
  const { jwt, serviceTokens } = opened.options.settings;
  const isLocal = jwt === undefined && serviceTokens === undefined;
  // A local token belongs to the desk that made it; here the caller is named.
  const token = given === '' || (isLocal && LOCAL_TOKEN.test(given)) ? undefined : given;
  if (!isLocal && token === undefined) {
    throw usage(
      'mcp-server needs a token: people and services are told apart here.',
      'Set HOLDFAST_TOKEN to a service token of console.serviceTokens.',
    );
  }
  if (!isLocal && (as !== undefined || role !== undefined)) {
    throw usage(
      '--as and --role work in local development only: your token says who you are.',
      'Leave them out.',
    );
  }
  const whom = isLocal ? { as: as ?? 'agent', roles: role } : {};
  const streams = { input: input ?? process.stdin, output: kept };
  const running = await startMcpStdio(opened.options, { token, ...whom, streams });
  output.remark(`Serving ${running.caller ?? ''} over standard input and output.`);
  return running;
}

/** Standard output is the protocol's alone: what a configuration or a package prints goes to standard error. */
function keepStandardOutput(): { readonly stream: Writable; release(): void } {
  const { stdout, stderr } = process;
  const own = stdout.write;
  const stream = new Writable({
    write(chunk: Uint8Array, _, done) {
      own.call(stdout, chunk, undefined, done);
    },
  });
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  return {
    stream,
    release() {
      stdout.write = own;
    },
  };
}
