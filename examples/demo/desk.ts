/** The approval desk: shows what waits for a person and delivers the decision. */
import { HoldfastError, type AskView, type HoldfastClient } from '../../index.js';
import { approvalCard } from '../../cli/render/index.js';
import type { Terminal } from './terminal.js';

export interface Desk {
  /** Shows the question and decides it, unless somebody else is faster. */
  open(runId: string, ask: AskView): void;
  /** The question is closed: nobody needs to answer it any more. */
  close(askId: string): void;
}

const PERSON = 'you@terminal';
const DEMO_APPROVER = 'demo-approver';

export interface DeskOptions {
  readonly client: HoldfastClient;
  readonly terminal: Terminal;
  /** Nobody answered: the input ended. */
  readonly onSilence: () => void;
  readonly onError: (error: unknown) => void;
  /** How the demo is started, up to its options: `npm start --`. */
  readonly command: string;
}

export function createDesk(options: DeskOptions): Desk {
  const open = new Map<string, AbortController>();
  return {
    open(runId, ask) {
      const withdrawn = new AbortController();
      open.set(ask.askId, withdrawn);
      const { paint, say } = options.terminal;
      say(approvalCard(ask, { runId, now: Date.now(), paint, withoutCommands: true }));
      decide(options, { runId, ask, signal: withdrawn.signal }).catch(options.onError);
    },
    close(askId) {
      open.get(askId)?.abort();
      open.delete(askId);
    },
  };
}

interface Question {
  readonly runId: string;
  readonly ask: AskView;
  readonly signal: AbortSignal;
}

async function decide(options: DeskOptions, { runId, ask, signal }: Question): Promise<void> {
  const { client, terminal } = options;
  const { roles } = ask;
  const run = client.handle(runId);
  if (terminal.yes) {
    terminal.say(`The demo asks no person: ${DEMO_APPROVER} (${roles.join(', ')}) approves.`);
    await run.approve(ask.askId, { by: DEMO_APPROVER, roles, reason: 'approved by the demo' });
    return;
  }
  if (!terminal.interactive) {
    throw new HoldfastError(
      'Usage',
      'There is no terminal at which somebody could be asked. The demo has approved nothing.',
      {
        hint: `Run the demo at a terminal, or with --yes, which lets it approve by itself: ${options.command} --yes`,
      },
    );
  }
  terminal.say(
    'The run waits for you, also over crashes. Ctrl-C leaves the demo and withdraws what it began.',
  );
  const approved = await terminal.confirm('Approve?', signal);
  if (approved === undefined) {
    if (!signal.aborted) options.onSilence();
    return;
  }
  const decider = { by: PERSON, roles };
  if (approved) await run.approve(ask.askId, decider);
  else await run.reject(ask.askId, { ...decider, reason: 'rejected at the terminal' });
}
