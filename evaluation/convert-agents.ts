/** The other agents of a case, what single runs below say, and who looks at the run. */
import type { HandoffDeclaration } from '../authoring/index.js';
import { settingsOf } from './convert-limits.js';
import { scriptOf, usageOf } from './convert-script.js';
import type { CaseAgent, Fixture, ScriptedLook } from './fixture.js';
import type { FixtureDocument } from './format/document.js';

type Written<Key extends keyof FixtureDocument> = NonNullable<FixtureDocument[Key]>;

export function agentsOf(written: Written<'agents'>): ReadonlyMap<string, CaseAgent> {
  return new Map(Object.entries(written).map(([name, one]) => [name, agentOf(one)]));
}

/** The schema has checked the form. */
function agentOf(written: Written<'agents'>[string]): CaseAgent {
  const { model, budget = {}, settings, handoffTo, ...rest } = written;
  return {
    ...(rest as Omit<CaseAgent, 'model' | 'budget' | 'settings' | 'handoffTo'>),
    ...(model !== undefined && { model: scriptOf(model) }),
    budget,
    ...(settings !== undefined && { settings: settingsOf({ settings }) }),
    ...handoffsOf(handoffTo),
  };
}

export function runsOf(written: Written<'runs'>): Fixture['runs'] {
  return new Map(Object.entries(written).map(([place, { model }]) => [place, scriptOf(model)]));
}

/** The schema has checked the form. */
export function supervisorOf(written: FixtureDocument['supervise']): Pick<Fixture, 'supervisor'> {
  if (written === undefined) return {};
  const { name, every, on, roles, says } = written;
  return {
    supervisor: {
      ...(name !== undefined && { name }),
      ...(every !== undefined && { every }),
      ...(on !== undefined && { on }),
      ...(roles !== undefined && { roles }),
      says: says.map(lookOf),
    },
  };
}

function lookOf(written: Written<'supervise'>['says'][number]): ScriptedLook {
  if ('error' in written) return { kind: 'error', message: written.error };
  if ('answer' in written) {
    return { kind: 'answer', text: written.answer, usage: usageOf(written.usage) };
  }
  const { decision, because = 'The case says so.', text, usage } = written;
  const word = { decision, because, ...(text !== undefined && { text }) };
  return { kind: 'answer', text: JSON.stringify(word), usage: usageOf(usage) };
}

export function handoffsOf(
  written: Written<'handoffTo'> | undefined,
): Pick<CaseAgent, 'handoffTo'> {
  return written === undefined ? {} : { handoffTo: written as readonly HandoffDeclaration[] };
}
