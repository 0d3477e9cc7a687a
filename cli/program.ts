/** The program: its commands, its help, and how its errors become exit codes. */
import { CommanderError, Help, type Command, type HelpConfiguration } from 'commander';
import { HoldfastError } from '../core/state/errors.js';
import { didYouMean } from '../pure/nearest-names.js';
import type { Cli } from './command.js';
import { addApprovals } from './commands/approvals.js';
import { addAnswer, addApprove, addModify, addReject, addReplace } from './commands/decide.js';
import { addCancel, addClose, addInterrupt, addMessage, addMode } from './commands/control.js';
import { addAudit } from './commands/audit.js';
import { addBundles } from './commands/bundles.js';
import { addConsole } from './commands/console.js';
import { addCapture } from './commands/capture.js';
import { addChat } from './commands/chat.js';
import { addDev } from './commands/dev.js';
import { addDoctor } from './commands/doctor.js';
import { addEffects } from './commands/effects.js';
import { addEval } from './commands/eval.js';
import { addExport } from './commands/export.js';
import { addFolder } from './commands/folder.js';
import { addFailures } from './commands/failures.js';
import { addMcp } from './commands/mcp.js';
import { addMcpServer } from './commands/mcp-server.js';
import { addFreeze } from './commands/freeze.js';
import { addGoal } from './commands/goal/index.js';
import { addGrounds } from './commands/grounds.js';
import { addList } from './commands/list.js';
import { addInit } from './commands/init.js';
import { addKeys } from './commands/keys.js';
import { addDiff } from './commands/diff.js';
import { addFork } from './commands/fork.js';
import { addInspect } from './commands/inspect.js';
import { addReplay } from './commands/replay.js';
import { addServer } from './commands/server.js';
import { addExplain } from './commands/explain.js';
import { addSchedule } from './commands/schedule/index.js';
import { addSessions } from './commands/sessions.js';
import { addSet } from './commands/set.js';
import { addShow } from './commands/show.js';
import { addStore } from './commands/store.js';
import { addStart } from './commands/start.js';
import { addTranscript } from './commands/transcript.js';
import { addWatch } from './commands/watch.js';
import { addWhoami } from './commands/whoami.js';
import { addWorker } from './commands/worker.js';
import { givenBy, speechOf, type CliEnvironment } from './environment.js';
import { EXIT, EXIT_CODES_HELP, exitCodeOf } from './exit-code.js';
import { asCalled, OWN_NAME } from './render/called.js';
import { StrictCommand } from './strict-command.js';
import { createOutput, type Streams } from './terminal/output.js';
import { usage } from './usage.js';
import { packageVersion } from './version.js';

export interface CliIo {
  readonly environment: CliEnvironment;
  readonly streams: Streams;
  readonly input?: NodeJS.ReadableStream;
}

const INTRODUCTION = `Durable agents on Temporal: every effect happens once, or a person is asked.

Begin with \`npm create holdfast@latest\`, or \`holdfast init\` in a project that exists. Then \`holdfast dev\`, and in
another terminal \`holdfast start AGENT 'what to achieve'\`.`;

type Add = (program: Command, cli: Cli) => void;

/** In the order in which somebody meets them; the code of each is loaded when it is asked for. */
const GROUPS: readonly (readonly [title: string, commands: Readonly<Record<string, () => Add>>])[] =
  [
    [
      'Begin and run',
      {
        init: () => addInit,
        dev: () => addDev,
        server: () => addServer,
        worker: () => addWorker,
        console: () => addConsole,
        doctor: () => addDoctor,
      },
    ],
    [
      'Start and talk',
      {
        start: () => addStart,
        chat: () => addChat,
        message: () => addMessage,
        set: () => addSet,
        mode: () => addMode,
        interrupt: () => addInterrupt,
        close: () => addClose,
        cancel: () => addCancel,
      },
    ],
    ['Goals and schedules', { goal: () => addGoal, schedule: () => addSchedule }],
    [
      'Look',
      {
        list: () => addList,
        show: () => addShow,
        watch: () => addWatch,
        explain: () => addExplain,
        failures: () => addFailures,
        sessions: () => addSessions,
        transcript: () => addTranscript,
        effects: () => addEffects,
      },
    ],
    [
      'Decide',
      {
        approvals: () => addApprovals,
        grounds: () => addGrounds,
        approve: () => addApprove,
        reject: () => addReject,
        modify: () => addModify,
        replace: () => addReplace,
        answer: () => addAnswer,
        freeze: () => addFreeze,
        whoami: () => addWhoami,
      },
    ],
    [
      'Keep, replay, test',
      {
        export: () => addExport,
        replay: () => addReplay,
        inspect: () => addInspect,
        diff: () => addDiff,
        fork: () => addFork,
        bundles: () => addBundles,
        folder: () => addFolder,
        capture: () => addCapture,
        eval: () => addEval,
      },
    ],
    ['Connect', { mcp: () => addMcp, 'mcp-server': () => addMcpServer }],
    ['Keys, trail, store', { keys: () => addKeys, audit: () => addAudit, store: () => addStore }],
  ];

/** Runs one command line and gives its exit code; never throws. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const cli: Cli = { ...io, exitCode: EXIT.completed };
  // `eval --json` names a file; everywhere else it says how to speak.
  const json = argv.includes('--json') && argv[0] !== 'eval';
  try {
    checkHelpOf(argv);
    await buildProgram(cli, { json, named: argv[0] }).parseAsync(asked(argv), { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    const output = createOutput(io.streams, { json, ...speechOf(cli.environment) });
    if (!(error instanceof CommanderError)) {
      output.failure(error);
      return exitCodeOf(error);
    }
    if (error.exitCode === 0) return EXIT.completed;
    // Commander has told a person already.
    if (json) output.failure(usageError(error));
    return EXIT.usage;
  }
}

/** Of `help`, which explains commands and is one, `--help` asks nothing more. */
function asked(argv: readonly string[]): readonly string[] {
  return argv[0] === 'help' ? argv.filter((word) => !/^(?:-h|--help)$/.test(word)) : argv;
}

/** Of a command that there is not, `help` would explain the program without a word. */
function checkHelpOf([help, ...words]: readonly string[]): void {
  const wanted = words.find((word) => !word.startsWith('-'));
  if (help !== 'help' || wanted === undefined) return;
  const known = ['help', ...GROUPS.flatMap(([, commands]) => Object.keys(commands))];
  if (known.includes(wanted) || ALIASES.includes(wanted)) return;
  const near = didYouMean(wanted, known);
  throw usage(`There is no command "${wanted.slice(0, 40)}".`, `${near}See \`holdfast --help\`.`);
}

const ALIASES: readonly string[] = ['runs', 'inbox'];

interface Called {
  readonly json: boolean;
  /** What stands where a command does. */
  readonly named: string | undefined;
}

function buildProgram(cli: Cli, { json, named }: Called): Command {
  const { invocation = OWN_NAME, docs } = cli.environment;
  const own = asCalled(invocation, {}, docs);
  const program = new StrictCommand('holdfast')
    .description(INTRODUCTION)
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .helpCommand('help [command]', 'explain a command')
    // `list --version` asks for runs; the program's own comes before a command.
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureHelp(inWordsOf(own))
    .configureOutput({
      writeOut: (text) => cli.streams.out(own(text)),
      writeErr: (text) => {
        if (!json) cli.streams.err(own(text));
      },
    })
    .addHelpText('after', EXIT_CODES_HELP)
    .hook('preAction', (_, command) => {
      // Such as an unset variable: as a name of a file it would be the working directory.
      if (command.args[0]?.trim() === '') throw usage('The first argument is empty.');
      const { environment } = cli;
      const given = givenBy(command.name(), command.opts(), environment.variables);
      cli.environment = { ...environment, given };
    });
  // Subcommands take over the settings above, so they come last.
  for (const [title, , adder] of commandsFor(named)) {
    adder()(program, cli);
    program.commands.at(-1)?.helpGroup(`${title}:`);
  }
  return program;
}

/** Before lines are broken: a name that a line break cuts is none any more. */
function inWordsOf(own: (text: string) => string): HelpConfiguration {
  const plain = new Help();
  return {
    commandDescription: (command) => own(plain.commandDescription(command)),
    subcommandDescription: (command) => own(plain.subcommandDescription(command)),
    argumentDescription: (argument) => own(plain.argumentDescription(argument)),
    optionDescription: (option) => own(plain.optionDescription(option)),
  };
}

/** One that is named is built alone; whatever else is said needs all of them. */
function commandsFor(named: string | undefined): readonly (readonly [string, string, () => Add])[] {
  const all = GROUPS.flatMap(([title, commands]) =>
    Object.entries(commands).map(([name, adder]) => [title, name, adder] as const),
  );
  const alone = all.filter(([, name]) => name === named);
  return alone.length > 0 ? alone : all;
}

function usageError(error: CommanderError): HoldfastError {
  const message = error.code === 'commander.help' ? 'No command was given.' : error.message;
  return new HoldfastError('Usage', message.replace(/^error: /, ''), {
    hint: 'See `holdfast --help`.',
  });
}
