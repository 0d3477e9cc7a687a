/** The command line of `create-holdfast`. */
import { parseArgs } from 'node:util';
import { HoldfastError } from '../core/state/errors.js';
import { didYouMean } from '../pure/nearest-names.js';
import { choiceOf, holdfastSpec, type Wanted } from './scaffold/options.js';

export interface Arguments extends Partial<Wanted> {
  readonly folder?: string;
  readonly install?: boolean;
  readonly holdfast?: string;
  readonly yes: boolean;
  readonly json: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

const OPTIONS = {
  template: { type: 'string' },
  module: { type: 'string' },
  model: { type: 'string' },
  holdfast: { type: 'string' },
  install: { type: 'boolean' },
  'no-install': { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
} as const;

export const HELP = `Usage: npm create holdfast@latest [folder] -- [options]

Begins a project with Holdfast: an agent, a test, a case and a Dockerfile. Asks what no option says.

Options:
  --template <name>   minimal (an agent that reads), refund (payments with approval) or existing
                      (a Temporal workflow with one agent step); default minimal
  --module <kind>     esm or commonjs; default esm
  --model <vendor>    whose key the project reads: anthropic, openai or scripted; default anthropic.
                      Without the key a script answers
  --install           install dependencies at once; --no-install, the default, leaves them
  --holdfast <spec>   version of Holdfast, or file:PLACE; default: the one of this command
  -y, --yes           ask nothing
  --json              print one line: {folder, template, module, model, files, installed}
  -h, --help          print this
  -V, --version       print the version

Files that exist are never written over. \`npx holdfast init\` adds Holdfast to a project that exists.

Exit codes:
  0    done
  1    an error: it says what is wrong and what to do
  2    the command line is wrong, or files of the project exist there
  130  Ctrl-C`;

/** Errors: Usage. */
export function readArguments(argv: readonly string[]): Arguments {
  const { values, positionals } = parsed(argv);
  const [folder, ...more] = positionals;
  if (more.length > 0) {
    throw usage(`One folder is enough, not ${positionals.length}.`);
  }
  if (values.install && values['no-install'])
    throw usage('Give --install or --no-install, not both.');
  const { template, module, model, holdfast } = values;
  const install = values.install ?? (values['no-install'] ? false : undefined);
  return {
    ...(folder !== undefined && { folder }),
    ...(template !== undefined && { template: choiceOf('template', template) }),
    ...(module !== undefined && { module: choiceOf('module', module) }),
    ...(model !== undefined && { model: choiceOf('model', model) }),
    ...(holdfast !== undefined && { holdfast: holdfastSpec(holdfast) }),
    ...(install !== undefined && { install }),
    yes: values.yes === true,
    json: values.json === true,
    help: values.help === true,
    version: values.version === true,
  };
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    const [reason = ''] = String(error instanceof Error ? error.message : error).split('. ', 1);
    const [, option] = /^Unknown option '(--[\w-]+)'/.exec(reason) ?? [];
    const known = Object.keys(OPTIONS).map((name) => `--${name}`);
    throw usage(`${reason.replace(/\.$/, '')}.`, didYouMean(option, known));
  }
}

function usage(message: string, meant = ''): HoldfastError {
  return new HoldfastError('Usage', message, { hint: `${meant}See --help.` });
}
