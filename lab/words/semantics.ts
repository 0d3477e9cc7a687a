/** Writes docs/reference/semantics.md from the constants that the code decides by: `npm run semantics`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_BUDGET } from '../../core/state/budget-fields.js';
import { CHANGES } from '../../core/step/changes.js';
import { DIALECTS, stopReasonAs } from '../../evaluation/dialects.js';
import { GATES } from '../../core/gates/completion.js';
import { HOOK_POINTS } from '../../core/state/hook.js';
import { PERMISSION_MODES } from '../../core/state/permission-mode.js';
import type { StopReason } from '../../core/state/result.js';
import { GOAL_RULE_LISTS } from '../../core/goal/rules.js';
import { ROWS } from '../../core/goal/rows.js';
import { RULE_LISTS } from '../../core/loop/rules.js';
import { DEFAULT_SETTINGS } from '../../core/state/settings.js';
import { AFTER_A_PERSON, STOP_MEANINGS } from '../../core/step/stop.js';
import { EFFECTS, IDEMPOTENCIES, retryFor, sideEffectOf } from '../../core/state/tool.js';
import {
  DENIED_CODES,
  INFRASTRUCTURE_CODES,
  INTERRUPTED_CODES,
  INVALID_CODES,
  TOOL_RESULT_CODES,
} from '../../core/state/tool-result.js';
import { WARNINGS } from '../../core/state/warning.js';
import { TRANSITIONS } from '../../pure/transitions.js';

type Row = readonly string[];

export function semantics(): string {
  return `${[
    '# Semantics',
    'Written by `npm run semantics` from the constants that the code decides by; do not edit. The',
    'details of a rule stand at the code that it names.',
    ...RULE_LISTS.flatMap(({ title, rules }) =>
      section(title, 'core/loop/rules.ts: the first rule that fires decides', [
        ['rule', 'says', 'what waits while the rule holds', 'since rules'],
        ...rules.map(({ name, says, holds, since }): Row => [name, says, holds, String(since)]),
      ]),
    ),
    ...goals(),
    ...section(
      'Changes of what is decided',
      'core/step/changes.ts: a run keeps the rules it began with',
      [
        ['change', 'since rules', 'why'],
        ...Object.entries(CHANGES).map(([name, { since, why }]): Row => [
          code(name),
          String(since),
          why,
        ]),
      ],
    ),
    ...section('Completion gates, in order', 'core/gates/', [
      ['gate'],
      ...GATES.map(({ name }): Row => [wordsOf(name.replace(/Gate$/, ''))]),
    ]),
    ...outcomes(),
    ...settable(),
  ].join('\n')}\n`;
}

/** What decides about goals, and how they end. */
function goals(): readonly string[] {
  return [
    ...GOAL_RULE_LISTS.flatMap(({ title, rules }) =>
      section(title, 'core/goal/rules.ts: the first rule that fires decides', [
        ['rule', 'says', 'what waits while the rule holds', 'since rules'],
        ...rules.map(({ name, says, holds, since }): Row => [name, says, holds, String(since)]),
      ]),
    ),
    ...section('How a goal ends', 'core/goal/rows.ts: the first row that matches', [
      ['when', 'result'],
      ...ROWS.map(({ says, result }): Row => [says, result]),
    ]),
  ];
}

/** How runs and calls end, and what a run tells meanwhile. */
function outcomes(): readonly string[] {
  return [
    ...section('Stop reasons', 'core/step/stop.ts, evaluation/dialects.ts', [
      ['reason', 'status', ...DIALECTS, 'next safe action'],
      ...stopRows(),
    ]),
    ...section('Transitions', 'pure/transitions.ts: why the loop went on', [
      ['reason', 'meaning', 'turnCount', 'recoveryCount', 'reactive guard'],
      ...Object.entries(TRANSITIONS).map(
        ([reason, { words, turnCount, recoveryCount, reactiveGuard }]): Row => [
          code(reason),
          words,
          turnCount,
          recoveryCount,
          reactiveGuard,
        ],
      ),
    ]),
    ...section('Codes of tool results', 'core/state/tool-result.ts', [
      ['code', 'counts as'],
      ...TOOL_RESULT_CODES.map((one): Row => [code(one), classOf(one)]),
    ]),
    ...section('Codes of warnings', 'core/state/warning.ts', [
      ['code', 'says', 'in the audit trail'],
      ...Object.entries(WARNINGS).map(([one, { says, audited }]): Row => [
        code(one),
        says,
        audited === true ? 'yes' : 'no',
      ]),
    ]),
    ...section('Retries of tools', 'core/state/tool.ts: by effect and idempotency', [
      ['effect', 'side effect', ...IDEMPOTENCIES],
      ...EFFECTS.map((effect): Row => [
        code(effect),
        sideEffectOf(effect),
        ...IDEMPOTENCIES.map((idempotency) => retryFor({ effect, idempotency })),
      ]),
    ]),
  ];
}

/** What agents, configurations and starts may set. */
function settable(): readonly string[] {
  return [
    ...section(
      'Hook points and permission modes',
      'core/state/hook.ts, core/state/permission-mode.ts',
      [
        ['hook points', 'permission modes'],
        [HOOK_POINTS.map(code).join(', '), PERMISSION_MODES.map(code).join(', ')],
      ],
    ),
    ...section('Budgets', 'core/state/budget-fields.ts', [
      ['field', 'default'],
      ...rowsOf(DEFAULT_BUDGET),
    ]),
    ...section('Settings', 'core/state/settings.ts', [
      ['field', 'default'],
      ...rowsOf(DEFAULT_SETTINGS),
    ]),
  ];
}

function section(title: string, where: string, rows: readonly Row[]): readonly string[] {
  const [head = [], ...body] = rows;
  const lines = [head, head.map(() => '---'), ...body].map((row) => `| ${row.join(' | ')} |`);
  return ['', `## ${title}`, '', `${where}.`, '', ...lines];
}

function stopRows(): readonly Row[] {
  return Object.entries(STOP_MEANINGS).map(([reason, { status, next }]) => {
    const stopReason = reason as StopReason;
    const words = DIALECTS.map((dialect) => code(stopReasonAs({ stopReason }, dialect)));
    const alone = next === AFTER_A_PERSON.session ? ` Without one: ${AFTER_A_PERSON.none}` : '';
    return [code(reason), status, ...words, `${next ?? 'none'}${alone}`];
  });
}

function rowsOf(fields: object): readonly Row[] {
  return Object.entries(fields).map(([name, value]) => [code(name), code(JSON.stringify(value))]);
}

function classOf(one: (typeof TOOL_RESULT_CODES)[number]): string {
  if (DENIED_CODES.includes(one)) return 'denied';
  if (INVALID_CODES.includes(one)) return 'invalid';
  if (INFRASTRUCTURE_CODES.includes(one)) return 'failing infrastructure';
  if (INTERRUPTED_CODES.includes(one)) return 'interrupted';
  return one.startsWith('skipped') ? 'skipped' : 'other';
}

/** `callsSettled` as "calls settled". */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function code(text: string): string {
  return `\`${text}\``;
}

if (require.main === module)
  writeFileSync(join(__dirname, '../../docs/reference/semantics.md'), semantics());
