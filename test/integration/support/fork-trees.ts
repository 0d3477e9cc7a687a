/** Recorded trees with effects: runs that had others work for them, a handoff, a cycle, and a sub-agent by itself. */
import type { Script, ScriptedAnswer } from '../../../testing/index.js';
import { HALL, HANDING_AGENT, TREE_AGENT } from './tree-agents.js';
import { ANY_RUN, call, pay, say, type World } from './world.js';

export interface ForkTree {
  readonly name: string;
  readonly agent: string;
  /** By what stands behind the id of the root, without numbers: '' is the root, ':a' a sub-agent, ':a:a' one below that. */
  readonly says: { readonly [place: string]: readonly ScriptedAnswer[] };
  /** Run that is forked, below the root; absent: the root. */
  readonly forks?: string;
  /** It is the agent of a goal, whose first cycle is the root. */
  readonly isCycle?: true;
}

const asks = (name: string) => call('agent', { name, prompt: 'Look at order 1.' });
const DONE = say('All done.');
const PAYS = [pay('pay.keyed', 100), say('Paid.')];
const CLERK = [call('notes.write', { item: 'one' }), pay('pay.asked', 200), say('Paid.')];
const OVER = call('handoff', { to: 'note-writer', summary: 'Pay it.' });

export const FORK_TREES: readonly ForkTree[] = [
  {
    name: 'a sub-agent that paid',
    agent: TREE_AGENT,
    says: { '': [asks('auditor'), pay('pay.keyed', 300), DONE], ':a': PAYS },
  },
  {
    name: 'a sub-agent of a sub-agent, with an approval',
    agent: TREE_AGENT,
    says: { '': [asks('auditor'), DONE], ':a': [asks('clerk'), say('Audited.')], ':a:a': CLERK },
  },
  {
    name: 'two sub-agents beside one another',
    agent: HALL,
    says: {
      '': [{ calls: [...asks('auditor').calls, ...asks('auditor').calls] }, DONE],
      ':a': PAYS,
    },
  },
  {
    name: 'two sub-agents one after the other',
    agent: TREE_AGENT,
    says: { '': [asks('auditor'), pay('pay.blind', 5), asks('auditor'), DONE], ':a': PAYS },
  },
  {
    name: 'a task that was handed to a run of its own',
    agent: HANDING_AGENT,
    says: { '': [pay('pay.keyed', 7), OVER], ':h': PAYS },
  },
  {
    name: 'a sub-agent by itself',
    agent: TREE_AGENT,
    says: { '': [asks('auditor'), DONE], ':a': [asks('clerk'), ...PAYS], ':a:a': CLERK },
    forks: ':a1',
  },
  {
    name: 'a cycle of a goal, with a sub-agent',
    agent: TREE_AGENT,
    says: { '': [asks('auditor'), pay('pay.probed', 300), DONE], ':a': PAYS },
    isCycle: true,
  },
];

/** What runs of such a tree say, and those of its forks: the same at the same place. */
export function scriptTree(world: World, { says, forks = '' }: ForkTree): void {
  const base = placeOf(forks);
  const known = (place: string): readonly ScriptedAnswer[] =>
    says[place] ?? says[`${base}${place}`] ?? [DONE];
  const script: Script = ({ runId, assistantMessages, messages }) => {
    const isFork = runId.startsWith('run_');
    const place = placeOf(runId.replace(/:c\d+/, ''));
    const replies = isFork ? (says[`${base}${place}`] ?? [DONE]) : known(place);
    // The conversation of the run before it goes along with a task that is handed over.
    const before = place === ':h' ? handedOver(messages) : 0;
    return replies[assistantMessages - before] ?? DONE;
  };
  world.script(ANY_RUN, script);
}

/** Messages of the run that handed the task over. */
function handedOver(messages: Parameters<Script>[0]['messages']): number {
  const at = messages.findIndex(({ content }) =>
    JSON.stringify(content).includes('handed this task over'),
  );
  return messages.slice(0, Math.max(0, at)).filter(({ role }) => role === 'assistant').length;
}

function placeOf(runId: string): string {
  return (/(?::[ach]\d+)*$/.exec(runId)?.[0] ?? '').replace(/\d+/g, '');
}
