/** The look of a supervisor in words. Texts are bounded by the run, and made harmless by whoever shows them. */
import type { RunEvent } from '../core/state/event.js';

type Supervision = Extract<RunEvent, { readonly type: 'supervision' }>;

const DECISIONS: { readonly [decision in Supervision['decision']]: string } = {
  go_on: 'lets the run go on',
  steer: 'tells the run',
  interrupt: 'interrupts the run',
  ask: 'asks a person',
};

/** `quote` wraps what the supervisor wrote. */
export function supervisionWords(
  { supervisor, decision, text, because }: Supervision,
  quote: (text: string) => string,
): string {
  const said = text === undefined ? '' : ` ${quote(text)}`;
  return `${quote(supervisor)} ${DECISIONS[decision]}${said}, because ${quote(because)}`;
}
