/**
 * What a fixture can say and the runtime cannot do yet: such a case is reported as broken, because playing
 * it without what it is about would prove nothing. Whoever builds a feature takes its line out.
 */
import type { CaseSettings, Fixture } from '../fixture.js';

const SETTINGS: readonly (keyof CaseSettings)[] = ['streamCalls', 'closeOnReturn'];

/** What a single run does not do, and a goal does. */
const OF_GOALS: readonly (keyof CaseSettings)[] = ['checkpointEvery', 'reviewEvery'];

/** A setting that only says what is the case anyway is no reason. */
const WITHOUT_EFFECT: Partial<Record<keyof CaseSettings, unknown>> = {
  streamCalls: false,
};

type Feature = readonly [name: string, used: (fixture: Fixture) => boolean];

const FEATURES: readonly Feature[] = [
  ['tools.kind', (fixture) => toolsOf(fixture).some(({ kind }) => !KINDS.includes(kind))],
];

const KINDS: readonly string[] = ['tool', 'handoff', 'human_input', 'hosted', 'subagent', 'mcp'];

/** The first thing in the fixture that cannot be played, by its name there. */
export function notYet(fixture: Fixture): string | undefined {
  const { settings } = fixture;
  const setting = SETTINGS.find(
    (name) => settings[name] !== undefined && settings[name] !== WITHOUT_EFFECT[name],
  );
  if (setting !== undefined) return `settings.${setting}`;
  const ofGoals = OF_GOALS.find((name) => settings[name] !== undefined);
  if (ofGoals !== undefined) return `settings.${ofGoals}: only goals do that, see the key goalLoop`;
  return FEATURES.find(([, used]) => used(fixture))?.[0];
}

function toolsOf({ manifest, tools }: Fixture) {
  return manifest.flatMap((name) => tools.get(name) ?? []);
}
