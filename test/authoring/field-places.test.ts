/** A field that stands at a wrong place is told where it belongs. */
import { z } from 'zod';
import { FIELD_PLACES } from '../../authoring/field-places.js';
import { parseBudget, parseSettings } from '../../authoring/check-limits.js';
import { normalGoal } from '../../authoring/goal/normal-goal.js';
import { defineAgent, defineConfig, defineTool } from '../../index.js';
import type { HoldfastError } from '../../core/state/errors.js';

const agent = { name: 'a', model: 'scripted/x', instructions: 'Help.' } as const;
const tool = {
  name: 't',
  version: '1',
  effect: 'read',
  input: z.object({}),
  run: () => 1,
} as const;
const goal = {
  objective: 'x',
  agent: 'a',
  done: [{ plan: 'complete' }],
  budget: { maxCostMicroUsd: 9 },
};
const place = { code: 'InvalidAgent', subject: 'Agent a' } as const;

/** By the place, how a field is written there. */
const WRITTEN: Readonly<Record<string, (field: object) => unknown>> = {
  '`settings` of an agent or of `defaults`': (field) => parseSettings(field, place),
  '`budget` of an agent or of `defaults`, `cycle` of a goal': (field) => parseBudget(field, place),
  '`defineAgent`': (field) => defineAgent({ ...agent, ...field }),
  '`defineTool`': (field) => defineTool({ ...tool, ...field } as never),
  '`defineGoal`': (field) => normalGoal({ ...goal, ...field }, 'Goal g'),
  '`budget` of a goal': (field) => normalGoal({ ...goal, budget: field }, 'Goal g'),
  '`defineConfig`': (field) => defineConfig({ agents: [defineAgent(agent)], ...field } as never),
  '`console` of `defineConfig`': (console) => configured({ console }),
  '`connection` of `defineConfig`': (connection) => configured({ connection }),
  '`worker` of `defineConfig`': (worker) => configured({ worker }),
};
const configured = (more: object) =>
  defineConfig({ agents: [defineAgent(agent)], ...more } as never);

function saidOf(work: () => unknown): string {
  try {
    work();
    return '';
  } catch (error) {
    const { message, hint = '' } = error as HoldfastError;
    return `${message} ${hint}`;
  }
}

const fields = Object.entries(FIELD_PLACES).flatMap(([where, names]) =>
  names.map((name) => [where, name] as const),
);

test.each(Object.keys(WRITTEN))('every field of %s is told elsewhere, and known there', (where) => {
  for (const [, name] of fields.filter(([own]) => own === where)) {
    for (const [other, write] of Object.entries(WRITTEN)) {
      const said = saidOf(() => write({ [name]: null }));
      const isKnown = (FIELD_PLACES[other] ?? []).includes(name);
      // A tool and an agent both have a sandbox, and a goal has an agent's budget.
      if (said.includes(`"${name}" belongs into`)) {
        expect(said).toContain(where);
        expect([other, name, isKnown]).toEqual([other, name, false]);
      } else if (/no field|[Uu]nrecognized|no known field/.test(said)) {
        throw new Error(`${name} at ${other}: ${said}`);
      }
    }
  }
});

test('every field that there is has a place', () => {
  const names = new Set(fields.map(([, name]) => name));
  const ANYWHERE = ['name', 'version', 'agent', 'approval', 'limits', 'roles'];
  const known = Object.values(WRITTEN).flatMap((write) => {
    const said = saidOf(() => write({ noSuchField: 1 }));
    const [, list = ''] = /[Ff]ields are ([\w, ]+)/.exec(said) ?? [];
    return list === '' ? [] : list.split(', ');
  });
  expect(known.length).toBeGreaterThan(60);
  const GOAL_BUDGET = ['maxCostMicroUsd', 'onBudget', 'budgetRoles'];
  const missing = known.filter((name) => !names.has(name) && !ANYWHERE.includes(name));
  expect(missing.filter((name) => !GOAL_BUDGET.includes(name))).toEqual([]);
});

test('a setting beside the agent, in the budget and in the configuration names `settings`', () => {
  for (const write of [
    WRITTEN['`defineAgent`'],
    WRITTEN['`defineConfig`'],
    WRITTEN['`budget` of an agent or of `defaults`, `cycle` of a goal'],
  ])
    expect(saidOf(() => write?.({ unservedTimeoutMs: 1 }))).toContain(
      '"unservedTimeoutMs" belongs into `settings` of an agent or of `defaults`. ',
    );
});
