/** `holdfast mcp`: connectors, what their servers say of their tools, and which of that runs get. */
import type { Command } from 'commander';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import { offersAtDesk } from '../connectors/at-desk.js';
import {
  changeLines,
  headline,
  isHidden,
  isTold,
  schemaLines,
  toolTable,
} from '../connectors/offer-lines.js';
import { offersHere, type OfferedConnector, type Offers } from '../connectors/offered.js';
import {
  readingDeskOf,
  tenantOf,
  withDesk,
  withTenant,
  type ActorOptions,
  type TenantOptions,
} from '../desk/actor.js';
import { EXIT } from '../exit-code.js';
import { inert } from '../render/index.js';
import type { Session } from '../session.js';
import type { Output } from '../terminal/output.js';
import { addApproveTools, isApprovable, seenWords } from './mcp-approve.js';
import { addLogin } from './mcp-login.js';

interface McpOptions extends ActorOptions, TenantOptions {
  readonly schema?: boolean;
}

/** A command that names more tools is too long to be read. */
const NAMED_MAX = 20;
const SHAPE =
  '{connectors: [{connector, status, tools: [{name, tool, state, effect, hash, changes, definition, wentBack?, …}]}]}';

export function addMcp(program: Command, cli: Cli): void {
  const mcp = program
    .command('mcp')
    .description('Connectors (servers of MCP): what they offer, and which of it runs get.');
  const reading = (name: string, says: string, work: Work): void => {
    const command = mcp.command(`${name} [connector]`).description(says);
    if (name === 'list') command.option('--schema', 'with the schemas');
    withJson(withPlace(withTenant(withDesk(command))), SHAPE)
      .addHelpText('after', examples(`holdfast mcp ${name}`, `holdfast mcp ${name} crm --json`))
      .action((connector: string | undefined, options: McpOptions) =>
        runCommand(cli, options, async (session, output) => {
          const isWhole = options.schema === true || output.json;
          const found = await offersFor(cli, session, options).look(connector, isWhole);
          output.data({ connectors: found });
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
  addApproveTools(mcp, cli);
}

type Work = (
  found: readonly OfferedConnector[],
  output: Output,
  options: McpOptions,
) => number | void;

/** Over the desk for whoever has a token of it, else by the configuration and the store. */
function offersFor(cli: Cli, session: Session, options: McpOptions): Offers {
  const api = readingDeskOf(cli, options);
  if (api !== undefined) return offersAtDesk(api);
  return offersHere(cli, { session, tenant: tenantOf(options) });
}

function list(found: readonly OfferedConnector[], output: Output, { schema }: McpOptions): void {
  if (found.length === 0) output.line('The configuration names no connectors.');
  for (const one of found) {
    output.line(headline(one));
    if (one.tools.length > 0) output.line(toolTable(one.tools, output));
    if (schema === true) for (const line of one.tools.flatMap(schemaLines)) output.line(line);
  }
}

function check(found: readonly OfferedConnector[], output: Output): number {
  const down = found.filter(({ status }) => status === 'failed');
  for (const one of down) output.line(headline(one));
  const waiting = found.filter(({ login }) => login !== undefined);
  for (const { connector, login = '' } of waiting)
    output.line(`${inert(connector)} needs a login: ${inert(login)}`);
  const hidden = found.flatMap(({ tools }) => tools.filter(isHidden));
  for (const { name, state, problem } of hidden) {
    output.line(`${inert(name)}: ${state}${problem === undefined ? '' : `, ${inert(problem)}`}`);
  }
  if (down.length + waiting.length + hidden.length > 0) return EXIT.error;
  output.line('All servers answer, and runs get all of their tools.');
  return EXIT.completed;
}

function diff(found: readonly OfferedConnector[], output: Output): number {
  const down = found.filter(({ status }) => status === 'failed');
  for (const one of down) output.line(headline(one));
  const differing = found.map((one) => ({ ...one, tools: one.tools.filter(isTold) }));
  // Of a server that is down nobody knows.
  if (down.length < found.length && differing.every(({ tools }) => tools.length === 0))
    output.line('Nothing differs from what was approved.');
  for (const { connector, tools } of differing) {
    for (const line of tools.flatMap(changeLines)) output.line(line);
    const approvable = tools.filter((tool) => isApprovable(tool) && tool.state !== 'approved');
    if (approvable.length > 0 && approvable.length <= NAMED_MAX && !output.json)
      output.remark(`To approve them as they are here: ${seenWords(connector, approvable)}`);
  }
  return down.length > 0 ? EXIT.error : EXIT.completed;
}
