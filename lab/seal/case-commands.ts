/**
 * What the cases of test/scenarios command, under each sealed rules number: every effect with its payload, and in
 * these all events and the result. A digest of each command is kept, so that one that has changed is found by its place.
 * Invariant: a line that is kept is not written again unless somebody asks for it.
 */
import { CHANGES } from '../../core/step/changes.js';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectFixtures } from '../../evaluation/collect.js';
import type { Fixture } from '../../evaluation/fixture.js';
import { createSimulationEngine } from '../../evaluation/simulation/index.js';
import type { Effect } from '../../core/state/effect.js';

/** The first rules number that goals follow. */
export const GOALS_SINCE = 11;

const ROOT = join(__dirname, '..', '..');
const FOLDER = join(ROOT, 'test', 'scenarios', 'commands');
const DIGEST_CHARS = 6;

/** One text for each command, in order. */
export type Digests = readonly string[];

export interface CommandPlayer {
  play(fixture: Fixture): Promise<Digests>;
  stop(): Promise<void>;
}

export function playerOf(rules: number): CommandPlayer {
  let effects: Effect[] = [];
  const engine = createSimulationEngine({
    rules,
    // Digests of what a cycle is started with cover it.
    storeId: 'store',
    onStep: (_, some) => effects.push(...some),
  });
  return {
    async play(fixture) {
      effects = [];
      const run = await engine.run(fixture, { seed: 1 });
      const end = run.kind === 'observed' ? [] : ['broken'];
      const named = fixture.goal === undefined ? textOf : textOfGoals();
      return [...effects.map((effect) => digestOf(named(effect))), ...end];
    },
    stop: () => engine.stop(),
  };
}

function textOf(effect: Effect): string {
  return JSON.stringify(effect, (key, value: unknown) =>
    key === 'store' && typeof value === 'object' ? 'store' : value,
  );
}

/**
 * Hashes of a goal's commands are those of texts that activities wrote (memory, brief, checkpoint): which one a command
 * names is decided, the text is not. They are named in the order in which they come up.
 */
function textOfGoals(): (effect: Effect) => string {
  const seen = new Map<string, number>();
  return (effect) =>
    textOf(effect).replaceAll(HASH, (hash) => {
      const number = seen.get(hash) ?? seen.size + 1;
      seen.set(hash, number);
      return `hash ${number}`;
    });
}

const HASH = /\b[0-9a-f]{64}\b/g;

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_CHARS);
}

/** The numbers of which commands are kept, the oldest first. */
export function keptNumbers(): readonly number[] {
  return readdirSync(FOLDER)
    .flatMap((name) => /^rules-(\d+)\.txt$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);
}

/** By case. */
export function keptCommands(rules: number): ReadonlyMap<string, Digests> {
  const path = pathOf(rules);
  if (!existsSync(path)) return new Map();
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const [caseId = '', ...digests] = line.split(' ');
      return [caseId, digests] as const;
    }),
  );
}

/** Where the commands part; undefined: they are the same. */
export function firstDifference(kept: Digests, now: Digests): string | undefined {
  const at = now.findIndex((digest, index) => digest !== kept[index]);
  if (at >= 0) return `command ${at + 1} of ${now.length} is another one`;
  return now.length < kept.length ? `command ${now.length + 1} is missing` : undefined;
}

export function allCases(): Promise<readonly Fixture[]> {
  return collectFixtures({ paths: ['test/scenarios'], folder: ROOT });
}

/** Goals, and runs with sub-agents or servers, follow no older rules than those with which they began. */
export function isPlayedUnder(rules: number, { goal, agents, servers }: Fixture): boolean {
  if (servers.size > 0 && rules < CHANGES.connectorsTold.since) return false;
  if (goal !== undefined) return rules >= GOALS_SINCE;
  return agents.size === 0 || rules >= CHANGES.subAgents.since;
}

/** Writes what is not kept yet; `anew`: everything. How many lines were written. */
export async function keepCommands(rules: number, { anew = false } = {}): Promise<number> {
  const fixtures = (await allCases()).filter((fixture) => isPlayedUnder(rules, fixture));
  const kept = anew ? new Map<string, Digests>() : keptCommands(rules);
  const player = playerOf(rules);
  let written = 0;
  const lines: string[] = [];
  for (const fixture of fixtures.toSorted((a, b) => (a.caseId < b.caseId ? -1 : 1))) {
    const before = kept.get(fixture.caseId);
    if (before === undefined) written += 1;
    lines.push([fixture.caseId, ...(before ?? (await player.play(fixture)))].join(' '));
  }
  await player.stop();
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(pathOf(rules), `${lines.join('\n')}\n`);
  return written;
}

function pathOf(rules: number): string {
  return join(FOLDER, `rules-${rules}.txt`);
}
