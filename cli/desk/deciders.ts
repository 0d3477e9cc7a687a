/** Roles whose word counts somewhere in a configuration. */
import type { Config } from '../../authoring/index.js';

type Goal = Config['goals'] extends ReadonlyMap<string, infer G> ? G : never;
type Definition = Goal['definition'];

/** For approvals, later approvals, budgets and goals; each once. */
export function decidersIn({ tools, agents, defaults, goals }: Config): readonly string[] {
  const approving = [...tools.values()].flatMap(({ record: { approval } }) =>
    typeof approval === 'object' ? [...approval.roles, ...(approval.escalate?.roles ?? [])] : [],
  );
  const settings = [defaults.settings, ...[...agents.values()].map((agent) => agent.settings)];
  const budgets = settings.flatMap(({ budgetRoles = [] }) => budgetRoles);
  const ofGoals = [...goals.values()].flatMap(({ definition }) => rolesOfGoal(definition));
  return [...new Set([...approving, ...budgets, ...ofGoals])];
}

function rolesOfGoal({ approval, budget, reviewer, done }: Definition): readonly string[] {
  const conditions = 'all' in done ? done.all : done.any;
  return [
    ...approval.flatMap(({ roles }) => roles),
    ...budget.budgetRoles,
    ...(reviewer?.roles ?? []),
    ...conditions.flatMap((condition) => ('person' in condition ? condition.person.roles : [])),
  ];
}
