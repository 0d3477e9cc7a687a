/**
 * `holdfast mcp approve`: a person lets runs have tools as their server describes them.
 * Invariant: what is approved was shown: here, right before the person says yes, or before, by the hash that the person names.
 */
import type { Command } from 'commander';
import { examples, runCommand, withJson, withPlace, type Cli } from '../command.js';
import { offersAtDesk } from '../connectors/at-desk.js';
import { shortHash, wholeLines } from '../connectors/offer-lines.js';
import {
  changedSince,
  down,
  offersHere,
  type OfferedConnector,
  type OfferedTool,
} from '../connectors/offered.js';
import {
  actorOf,
  tenantOf,
  withActor,
  withTenant,
  type ActorOptions,
  type TenantOptions,
} from '../desk/actor.js';
import { inert } from '../render/index.js';
import type { Session } from '../session.js';
import type { Output } from '../terminal/output.js';
import { askYesNo, exitCodeOfWord, type Word } from '../terminal/yes-no.js';
import { usage } from '../usage.js';

type ApproveOptions = ActorOptions & TenantOptions;

/** `TOOL@HASH`. */
const SEEN = /^(.+)@([0-9a-f]{64})$/;

export function addApproveTools(mcp: Command, cli: Cli): void {
  const command = mcp
    .command('approve <connector> [tools...]')
    .description(
      'From now on runs get the tools as their server describes them now: TOOL@HASH as `mcp diff` shows it; at a terminal they are shown first, without names all that runs do not get.',
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
        'holdfast mcp approve crm get_contact@3f0c…(64 characters) --as mia',
      ),
    )
    .action((connector: string, words: readonly string[], options: ApproveOptions) =>
      runCommand(cli, options, (session, output) =>
        approve(cli, { session, output, options }, { connector, words }),
      ),
    );
}

/** What runs could have, if somebody approved it. */
export function isApprovable({ state, problem }: OfferedTool): boolean {
  return problem === undefined && state !== 'gone' && state !== 'unusable';
}

/** The command that approves tools as they were seen. */
export function seenWords(connector: string, tools: readonly OfferedTool[]): string {
  const words = tools.map(({ name, hash }) => `${inert(name)}@${inert(hash)}`);
  return `holdfast mcp approve ${inert(connector)} ${words.join(' ')}`;
}

interface Approving {
  readonly session: Session;
  readonly output: Output;
  readonly options: ApproveOptions;
}

interface Wanted {
  readonly connector: string;
  readonly words: readonly string[];
}

async function approve(
  cli: Cli,
  { session, output, options }: Approving,
  { connector, words }: Wanted,
): Promise<number | void> {
  const actor = await actorOf(cli, session, options);
  const offers =
    actor.kind === 'desk'
      ? offersAtDesk(actor.api)
      : offersHere(cli, { session, tenant: tenantOf(options), by: actor.named.by });
  const [found] = await offers.look(connector, true);
  if (found === undefined || found.status === 'failed') throw down(connector, found?.message);
  const chosen = chosenOf(found, words);
  const isSeen = words.length > 0 && words.every((word) => SEEN.test(word));
  if (chosen.length > 0 && !isSeen) {
    const word = await wordOn(cli, output, { connector, chosen });
    if (word !== 'yes') {
      output.remark('Nothing was approved.');
      return exitCodeOfWord(word);
    }
  }
  if (chosen.length > 0) await offers.approve(connector, chosen);
  output.data({ approved: chosen.map(({ name, tool, hash }) => ({ name, tool, hash })) });
  if (chosen.length === 0) output.line(`Runs get all usable tools of ${inert(connector)} already.`);
  for (const { name, hash } of chosen)
    output.line(`Runs get ${inert(name)} (${shortHash(hash)}) from now on.`);
}

/** Errors: Usage for a tool that is none; DecisionRejected for one that is not as it was seen. */
function chosenOf(
  { connector, tools }: OfferedConnector,
  words: readonly string[],
): readonly OfferedTool[] {
  const offered = tools.filter(isApprovable);
  if (words.length === 0) return offered.filter(({ state }) => state !== 'approved');
  const chosen = words.map((word) => {
    const [, seenName, hash] = SEEN.exec(word) ?? [];
    const name = seenName ?? word;
    const tool = offered.find((one) => one.name === name || one.tool === name);
    if (tool === undefined) throw noSuchTool(connector, name, offered);
    if (hash !== undefined && hash !== tool.hash) throw changedSince(connector, tool.name);
    return tool;
  });
  return [...new Set(chosen)];
}

function noSuchTool(connector: string, wanted: string, offered: readonly OfferedTool[]) {
  const names = offered.map(({ tool }) => tool).join(', ');
  return usage(
    `The server of ${connector} has no usable tool ${inert(wanted, 100)}.`,
    /@[0-9a-f]+$/.test(wanted)
      ? 'A hash has 64 characters, as `holdfast mcp diff` shows it.'
      : `The tools are ${inert(names, 500)}.`,
  );
}

/** At a terminal, after they were shown. Errors: Usage elsewhere. */
async function wordOn(
  cli: Cli,
  output: Output,
  { connector, chosen }: { readonly connector: string; readonly chosen: readonly OfferedTool[] },
): Promise<Word> {
  if (!cli.environment.interactive || output.json) {
    throw usage(
      'Tools are approved as somebody has seen them, and the command does not say how that was.',
      `Look at them with \`holdfast mcp diff ${connector}\` (or with --json), then name each as TOOL@HASH; at a terminal the command shows them and asks.`,
    );
  }
  for (const line of chosen.flatMap(wholeLines)) output.line(line);
  const which = chosen.length === 1 ? 'this tool' : `these ${chosen.length} tools`;
  return askYesNo(cli, `Shall runs get ${which} as shown?`);
}
