/** What the runs below a recorded one said, and the words in which a case speaks of its agents. */
import { isRecord } from '../../core/json/shape.js';
import { HANDOFF_TOOL } from '../../core/state/handoff.js';
import { MESSAGE_TOOL } from '../../core/state/mail.js';
import type { ModelRoute } from '../../core/state/model.js';
import type { FixtureDocument } from '../format/document.js';
import type { CapturedScript } from './model-script.js';
import { nameIn } from './team.js';
import { allOf, employedIn, type Member, type Tree } from './tree.js';

export interface Below extends Member {
  readonly script: CapturedScript;
}

export function runsOf(tree: Tree, below: readonly Below[]): Pick<FixtureDocument, 'runs'> {
  if (below.length === 0) return {};
  const runs = below.map(({ place, script: { replies } }) => [
    place,
    { model: replies.map((reply) => inTheCase(tree, reply)) },
  ]);
  return { runs: Object.fromEntries(runs) as FixtureDocument['runs'] };
}

/** Models that the other agents of a tree ask. */
export function routesBelow(tree: Tree): readonly ModelRoute[] {
  const others = allOf(tree).flatMap(({ recording }) => employedIn(recording));
  return others.flatMap(({ frozen: { route, fallback } }) =>
    fallback === undefined ? [route] : [route, fallback],
  );
}

type Reply = NonNullable<FixtureDocument['model']>[number];

/** Who names the agent of the case means it by the name that it has there. */
export function inTheCase(tree: Tree, reply: Reply): Reply {
  if (!('calls' in reply) || reply.calls === undefined) return reply;
  return {
    ...reply,
    calls: reply.calls.map((call) => {
      const { tool, input } = call;
      if ((tool !== HANDOFF_TOOL && tool !== MESSAGE_TOOL) || !isRecord(input)) return call;
      const { to } = input;
      if (typeof to !== 'string') return call;
      const [first = '', ...rest] = to.split('/');
      return { ...call, input: { ...input, to: [nameIn(tree, first), ...rest].join('/') } };
    }),
  };
}
