/**
 * What somebody may do here. Without a word in `console.access` the desk is for those who decide: everybody else who
 * has a role sees and answers the questions that are theirs, and nothing more of any run.
 */
import { objectionToAnswerer } from '../../core/ask/answer.js';
import { rolesAt } from '../../core/ask/escalation.js';
import type { AskRow } from '../../store/asks.js';
import type { Desk } from '../desk.js';
import { notAllowed } from '../http/problem.js';
import type { Access } from './access.js';
import type { Person } from './person.js';

type Rules = Pick<Desk, 'settings' | 'deciders'>;

/** Somebody without any role is known, and has no business here. Errors: a Problem. */
export function checkAccess(rules: Rules, person: Person, access: Access): void {
  if (person.roles.length === 0) throw notAllowed('You have no role here.');
  if (!mayAccess(rules, person, access)) throw notAllowed('None of your roles allows this.');
}

export function mayAccess(
  { settings, deciders = [] }: Rules,
  { roles, via }: Person,
  access: Access,
): boolean {
  if (roles.length === 0) return false;
  // A start spends money that nobody was asked about, and an approved tool is one more that agents have: the configuration
  // has to say who may.
  if ((access === 'start' || access === 'connectors') && settings.access[access] === undefined) {
    return via === 'local';
  }
  const needed = settings.access[access] ?? (access === 'answer' ? [] : deciders);
  // Where nobody says who decides, everybody does.
  const isOpen = needed.length === 0 && settings.access[access] === undefined;
  return isOpen || roles.some((role) => needed.includes(role));
}

/** Whether the question is for this person to decide or to answer. */
export function isOwn(row: AskRow, { id, roles }: Person, now: number): boolean {
  if (row.kind === 'input') return objectionToAnswerer(row, { by: id, roles }) === undefined;
  const wanted = rolesAt(row, now);
  const mayDecide = wanted.length === 0 || roles.some((role) => wanted.includes(role));
  return mayDecide && row.requestedBy !== id && row.steeredBy?.includes(id) !== true;
}

/** Whoever reads runs sees every question of the tenant. */
export function maySee(desk: Rules & Pick<Desk, 'clock'>, person: Person, row: AskRow): boolean {
  return mayAccess(desk, person, 'read') || isOwn(row, person, desk.clock());
}
