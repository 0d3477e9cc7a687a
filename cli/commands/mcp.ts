/** `holdfast mcp`: connectors, what their servers say of their tools, and which of that runs get. */
import type { Command } from 'commander';
import { approveTools, isApprovable } from '../../connectors/approve-tools.js';
import {
  survey,
  type Surveyed,
  type SurveyedTool,
  type ToolState,
} from '../../connectors/survey.js';
import { toolChanges } from '../../connectors/tool-changes.js';
import { canonicalJson } from '../../core/json/json.js';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import {
  actorOf,
  tenantOf,
  withActor,
  withTenant,
  type ActorOptions,
  type TenantOptions,
} from '../desk/actor.js';
import { approveAtDesk, noSuchTool, type ApprovedTool } from '../connectors/at-desk.js';
import { addLogin } from './mcp-login.js';
import { EXIT } from '../exit-code.js';
import { inert, table } from '../render/index.js';
import { readConfig } from '../serve.js';
import { neededStore, type Session } from '../session.js';
import type { Output } from '../terminal/output.js';
import { usage } from '../usage.js';

interface McpOptions extends ActorOptions, TenantOptions {
  readonly schema?: boolean;
}

const HASH_CHARS = 12;
const TEXT_CHARS_MAX = 300;
const SHAPE =
  '{connectors: [{connector, status, tools: [{name, tool, state, effect, hash, definition, …}]}]}';
const HIDDEN: readonly ToolState[] = ['changed', 'new', 'unusable', 'gone'];

export function addMcp(program: Command, cli: Cli): void {
  const mcp = program
    .command('mcp')
    .description('Connectors (servers of MCP): what they offer, and which of it runs get.');
  const reading = (name: string, says: string, work: Work): void => {
    const command = mcp.command(`${name} [connector]`).description(says);
    if (name === 'list') command.option('--schema', 'with the schemas');
    withJson(withPlace(withTenant(command)), SHAPE)
      .addHelpText('after', examples(`holdfast mcp ${name}`, `holdfast mcp ${name} crm --json`))
      .action((connector: string | undefined, options: McpOptions) =>
        runCommand(cli, options, async (session, output) => {
          const found = await look(cli, session, { connector, options });
          output.data({ connectors: found.map(shown) });
          return work(found, output, options);
        }),
      );
  };
  reading(
    'list',
    'List the tools of connectors with effect, hash and whether runs get them.',
    list,
  );
  reading(
    'check',
    'Fail when a server is down, needs a login, or has tools that runs do not get.',
    check,
  );
  reading('diff', 'Show how tools differ from what was approved.', diff);
  addLogin(mcp, cli);
  const command = mcp
    .command('approve <connector> [tools...]')
    .description(
      'From now on runs get the tools as their server describes them now; without names all of them.',
    );
  withJson(
    withPlace(withTenant(withActor(command, 'who approves'))),
    '{approved: [{name, tool, hash}]}',
  )
    .addHelpText(
      'after',
      examples(
        'holdfast mcp approve crm --as mia',
        'holdfast mcp approve crm get_contact --as mia',
      ),
    )
    .action((connector: string, tools: readonly string[], options: McpOptions) =>
      runCommand(cli, options, (session, output) =>
        approve(cli, { session, output, options }, { connector, tools }),
      ),
    );
}

type Work = (found: readonly Surveyed[], output: Output, options: McpOptions) => number | void;

interface Looking {
  readonly connector: string | undefined;
  readonly options: McpOptions;
}

async function look(
  { environment }: Cli,
  session: Session,
  { connector, options }: Looking,
): Promise<readonly Surveyed[]> {
  const config = await readConfig(session.place, environment.folder);
  const store = await session.wholeStore();
  return survey({ config, store, tenant: tenantOf(options), connector });
}

/** Without what only this program needs. */
function shown({ tools, ...connector }: Surveyed) {
  return {
    ...connector,
    tools: tools.map((tool) => {
      const { pinned: _, ...told } = tool;
      return told;
    }),
  };
}

function list(found: readonly Surveyed[], output: Output, { schema }: McpOptions): void {
  if (found.length === 0) output.line('The configuration names no connectors.');
  for (const one of found) {
    output.line(headline(one));
    if (one.tools.length > 0) output.line(toolTable(one.tools, output));
    if (schema !== true) continue;
    for (const { name, definition } of one.tools) {
      output.line(`${inert(name)} takes ${inert(canonicalJson(definition.inputSchema))}`);
      const { outputSchema } = definition;
      if (outputSchema !== undefined)
        output.line(`${inert(name)} gives ${inert(canonicalJson(outputSchema))}`);
    }
  }
}

function headline({ connector, status, era, server, message = '', required }: Surveyed): string {
  const needs = required ? ', required' : '';
  return status === 'connected'
    ? `${inert(connector)}: ${inert(server ?? 'a server without a name')}, ${era ?? ''} protocol${needs}`
    : `${inert(connector)}: down${needs}. ${inert(message)}`;
}

function toolTable(tools: readonly SurveyedTool[], { paint }: Output): string {
  return table({
    head: ['tool', 'effect', 'runs get it', 'hash'],
    rows: tools.map(({ name, effect, state, problem, hash }) => [
      inert(name),
      effect,
      problem === undefined ? state : `no: ${inert(problem)}`,
      hash.slice(0, HASH_CHARS),
    ]),
    paint,
  });
}

function check(found: readonly Surveyed[], output: Output): number {
  const down = found.filter(({ status }) => status === 'failed');
  for (const one of down) output.line(headline(one));
  const waiting = found.filter(({ login }) => login !== undefined);
  for (const { connector, login = '' } of waiting)
    output.line(`${inert(connector)} needs a login: ${inert(login)}`);
  const hidden = found.flatMap(({ tools }) => tools.filter(({ state }) => HIDDEN.includes(state)));
  for (const { name, state, problem } of hidden) {
    output.line(`${inert(name)}: ${state}${problem === undefined ? '' : `, ${inert(problem)}`}`);
  }
  if (down.length + waiting.length + hidden.length > 0) return EXIT.error;
  output.line('All servers answer, and runs get all of their tools.');
  return EXIT.completed;
}

function diff(found: readonly Surveyed[], output: Output): void {
  const tools = found.flatMap((one) => one.tools.filter(({ state }) => HIDDEN.includes(state)));
  for (const one of found.filter(({ status }) => status === 'failed')) output.line(headline(one));
  if (tools.length === 0) output.line('Nothing differs from what was approved.');
  for (const tool of tools) {
    output.line(`${inert(tool.name)}: ${tool.state}`);
    for (const { field, was = 'absent', is = 'absent' } of toolChanges(tool)) {
      output.line(`  ${field} was ${bounded(was)}`);
      output.line(`  ${field} is  ${bounded(is)}`);
    }
  }
}

function bounded(text: string): string {
  const plain = inert(text);
  return plain.length <= TEXT_CHARS_MAX ? plain : `${plain.slice(0, TEXT_CHARS_MAX)}…`;
}

interface Approving {
  readonly session: Session;
  readonly output: Output;
  readonly options: McpOptions;
}

async function approve(
  cli: Cli,
  { session, output, options }: Approving,
  { connector, tools }: { readonly connector: string; readonly tools: readonly string[] },
): Promise<void> {
  const actor = await actorOf(cli, session, options);
  if (actor.kind === 'desk') return tell(await approveAtDesk(actor.api, connector, tools), output);
  const store = await neededStore(session);
  const tenant = tenantOf(options);
  const [found] = await look(cli, session, { connector, options });
  if (found === undefined || found.status === 'failed')
    throw usage(`${connector} is down: ${found?.message ?? ''}`, 'Try again when it answers.');
  const offered = found.tools.filter(isApprovable);
  const unknown = tools.find((tool) => !offered.some((one) => isNamed(one, tool)));
  if (unknown !== undefined) throw noSuchTool(connector, unknown, offered);
  const chosen = offered.filter(
    (one) => tools.length === 0 || tools.some((tool) => isNamed(one, tool)),
  );
  const at = Date.now();
  const { by } = actor.named;
  await approveTools(store, { tenant, connector, tools: chosen, by, at });
  tell(chosen, output);
}

function tell(approved: readonly ApprovedTool[], output: Output): void {
  output.data({ approved: approved.map(({ name, tool, hash }) => ({ name, tool, hash })) });
  for (const { name, hash } of approved)
    output.line(`Runs get ${inert(name)} (${hash.slice(0, HASH_CHARS)}) from now on.`);
}

function isNamed({ name, tool }: SurveyedTool, wanted: string): boolean {
  return name === wanted || tool === wanted;
}
