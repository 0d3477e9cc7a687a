/** `--budget maxTurns=5` and `--setting afterAnswer=await_user`, checked by name before anything is sent. */
import { microUsdOf, usdDefect } from '../../authoring/budget-in-usd.js';
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import { type Json, ownValue } from '../../core/json/json.js';
import { DEFAULT_SETTINGS } from '../../core/state/settings.js';
import type { BudgetOverrides, SettingsOverrides } from '../../core/state/task.js';
import { didYouMean } from '../../pure/nearest-names.js';
import { parseDuration } from '../terminal/duration.js';
import { usage } from '../usage.js';

export function parseBudgetOptions(given: readonly string[] = []): BudgetOverrides {
  return Object.fromEntries(given.map((text) => budgetEntry(assignment(text, '--budget'))));
}

export function parseSettingOptions(given: readonly string[] = []): SettingsOverrides {
  return Object.fromEntries(given.map((text) => settingEntry(assignment(text, '--setting'))));
}

interface Assignment {
  readonly key: string;
  readonly value: string;
}

function assignment(text: string, option: string): Assignment {
  const at = text.indexOf('=');
  if (at < 1) {
    throw usage(`${option} takes name=value, not "${text.slice(0, 80)}".`);
  }
  return { key: text.slice(0, at).trim(), value: text.slice(at + 1).trim() };
}

function budgetEntry({ key, value }: Assignment): readonly [string, number | string] {
  if (key === 'maxCostUsd') return ['maxCostMicroUsd', dollars(value)];
  if (ownValue<unknown>({ ...DEFAULT_BUDGET }, key) === undefined) {
    throw unknownName('budget', key, ['maxCostUsd', ...Object.keys(DEFAULT_BUDGET)]);
  }
  if (value === 'unlimited') return [key, value];
  const parsed = key.endsWith('Ms') ? parseDuration(value) : numberOf(value);
  if (parsed !== undefined) return [key, parsed];
  throw usage(`The budget ${key} must be a number or unlimited, not "${value.slice(0, 40)}".`);
}

function settingEntry({ key, value }: Assignment): readonly [string, Json] {
  const known = ownValue<unknown>({ ...DEFAULT_SETTINGS }, key);
  if (known === undefined) throw unknownName('setting', key, Object.keys(DEFAULT_SETTINGS));
  if (typeof known === 'string') return [key, value];
  if (key.endsWith('Ms') && typeof known === 'number') {
    const parsed = parseDuration(value);
    if (parsed !== undefined) return [key, parsed];
  }
  try {
    return [key, JSON.parse(value) as Json];
  } catch {
    // What may be absent is JSON or a name; which of them, whoever checks the start knows.
    if (known === null) return [key, value];
    throw usage(
      `The setting ${key} must be ${typeof known === 'object' ? 'JSON' : `a ${typeof known}`}, not "${value.slice(0, 40)}".`,
    );
  }
}

function dollars(value: string): number | string {
  if (value === 'unlimited') return value;
  const given = numberOf(value.replace(/^\$/, ''));
  const amount = microUsdOf(given);
  if (amount === undefined)
    throw usage(`The budget maxCostUsd must be an amount in USD, not "${value.slice(0, 40)}".`);
  const defect = usdDefect(given);
  if (defect !== undefined) throw usage(`The budget maxCostUsd cannot be used: ${defect}.`);
  return amount;
}

function numberOf(text: string): number | undefined {
  const value = Number(text);
  return text !== '' && Number.isFinite(value) ? value : undefined;
}

function unknownName(what: string, key: string, names: readonly string[]) {
  return usage(
    `There is no ${what} "${key.slice(0, 60)}".`,
    `${didYouMean(key, names)}Known: ${names.join(', ')}.`,
  );
}
