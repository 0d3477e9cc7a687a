/**
 * The tools by which a cycle tells its goal something. Only runs that work for a goal have them; what they do is in
 * activities/goal/goal-tool.ts.
 * Invariants: they change nothing outside the goal; a schema that changes gets another version, because cycles under way
 * have frozen this one.
 */
import { z } from 'zod';
import { MEMORY_LIMITS } from '../../core/state/goal/memory.js';
import { BLOCK_KINDS, type GoalToolName } from '../../core/state/goal/proposal.js';
import { toolKey } from '../../core/state/tool.js';
import { defineTool, type ToolDefinition } from '../define-tool.js';
import type { Tool } from '../tool.js';

const EVIDENCE_CHARS_MAX = 300;
const STEP_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;
const PATH_CHARS_MAX = 500;
const NAME_CHARS_MAX = 64;
const MINUTES_MAX = 10_000_000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;
const PATH = /^[^.]+(\.[^.]+)*$/;

/** Lengths are told when they are exceeded: in the schema each request would pay for them. */
const text = (charsMax: number) =>
  z.string().refine((value) => value.length <= charsMax, `has more than ${charsMax} characters`);
const words = (charsMax: number) =>
  text(charsMax).refine((value) => value.trim() !== '', 'must not be blank');
const because = words(MEMORY_LIMITS.noteChars);
const evidence = z
  .array(words(EVIDENCE_CHARS_MAX))
  .refine(
    (ids) => ids.length <= MEMORY_LIMITS.evidenceIds,
    `has more than ${MEMORY_LIMITS.evidenceIds} ids`,
  );

const step = z.object({
  id: text(MEMORY_LIMITS.stepIdChars).refine(
    (id) => STEP_ID.test(id),
    'must be letters, digits, ".", "_", ":" and "-"',
  ),
  title: words(MEMORY_LIMITS.titleChars),
  status: z.enum(['open', 'doing', 'done', 'dropped']),
  note: text(MEMORY_LIMITS.noteChars).optional(),
  evidence: evidence.optional(),
});

export const GOAL_INPUTS = {
  goal_plan: z.object({
    steps: z
      .array(step)
      .refine(
        (steps) => steps.length > 0 && steps.length <= MEMORY_LIMITS.steps,
        `must be 1 to ${MEMORY_LIMITS.steps} steps`,
      ),
  }),
  goal_note: z.object({ text: words(MEMORY_LIMITS.noteChars), evidence: evidence.optional() }),
  goal_publish: z.object({
    path: text(PATH_CHARS_MAX).refine((path) => PATH.test(path), 'must be dotted names'),
    value: z.unknown().refine((value) => value !== undefined, 'is missing'),
  }),
  goal_propose_done: z.object({ because, evidence: evidence.optional() }),
  goal_propose_handoff: z.object({ to: words(NAME_CHARS_MAX), because }),
  goal_ask_pause: z.object({
    until: z
      .string()
      .refine((text) => TIME.test(text), 'must be a time such as 2030-01-31T09:00:00Z')
      .optional()
      .describe('2030-01-31T09:00:00Z'),
    minutes: z
      .number()
      .refine((minutes) => minutes > 0 && minutes <= MINUTES_MAX, `must be up to ${MINUTES_MAX}`)
      .optional(),
    because,
  }),
  goal_block: z.object({
    kind: z.enum(BLOCK_KINDS),
    because,
    step: words(MEMORY_LIMITS.stepIdChars).optional(),
  }),
} satisfies { readonly [Name in GoalToolName]: z.ZodType };

const DESCRIPTIONS: { readonly [Name in GoalToolName]: string } = {
  goal_plan: 'Adds or changes steps of the plan by id. "done" needs evidence.',
  goal_note: 'Keeps a fact for later cycles.',
  goal_publish: 'Publishes a value of the goal, once a path and cycle.',
  goal_propose_done: 'Asks the goal to look whether it is done.',
  goal_propose_handoff: 'Proposes another agent for the next cycles.',
  goal_ask_pause: 'Asks the goal to sleep until a time, or for minutes.',
  goal_block: 'Says why this cycle cannot go on; then end your turn.',
};

function goalTool(name: GoalToolName): Tool {
  const definition: ToolDefinition<z.ZodType> = {
    name,
    version: '1',
    effect: 'none',
    description: DESCRIPTIONS[name],
    input: GOAL_INPUTS[name],
    // Whoever executes it has its code: it needs the store (activities/goal/goal-tool.ts).
    run: () => undefined,
  };
  return defineTool(definition);
}

/** In the order in which a cycle is offered them, behind the tools of its agent. */
export const GOAL_TOOL_LIST: readonly Tool[] = (Object.keys(GOAL_INPUTS) as GoalToolName[]).map(
  goalTool,
);

const BY_KEY: ReadonlyMap<string, Tool> = new Map(
  GOAL_TOOL_LIST.map((tool) => [toolKey(tool.record), tool]),
);

/** The tool of goals with this name and version. */
export function goalToolOf(key: string): Tool | undefined {
  return BY_KEY.get(key);
}
