/** What a freeze covers, in words. */
import type { ComponentChildren } from 'preact';
import type { Freeze } from '../data/api-types.js';
import { InertLine } from './inert.js';

const NAME_CHARS = 130;

export function freezeScope({ kind, pattern, agent }: Freeze['scope']): ComponentChildren {
  switch (kind) {
    case 'tool':
      return (
        <>
          the tool <InertLine text={String(pattern)} max={NAME_CHARS} />
        </>
      );
    case 'agent':
      return (
        <>
          the agent <InertLine text={String(agent)} max={NAME_CHARS} />
        </>
      );
    default:
      return 'everything that changes something';
  }
}
