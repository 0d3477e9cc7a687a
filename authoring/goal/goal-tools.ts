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
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;
const PATH = /^[^.]+(\.[^.]+)*$/;

const words = (charsMax: number) => z.string().trim().min(1).max(charsMax);
const because = words(MEMORY_LIMITS.noteChars);
const evidence = z
  .array(z.string().min(1).max(EVIDENCE_CHARS_MAX))
  .max(MEMORY_LIMITS.evidenceIds)
  .describe('Ids from lines "[evidence ID]", exactly as they stand there.');

const step = z.object({
  id: z
    .string()
    .regex(STEP_ID)
    .max(MEMORY_LIMITS.stepIdChars)
    .describe('Stays the same for as long as the step is meant.'),
  title: words(MEMORY_LIMITS.titleChars),
  status: z.enum(['open', 'doing', 'done', 'dropped']),
  note: z.string().max(MEMORY_LIMITS.noteChars).optional(),
  evidence: evidence.optional(),
});

export const GOAL_INPUTS = {
  goal_plan: z.object({ steps: z.array(step).min(1).max(MEMORY_LIMITS.steps) }),
  goal_note: z.object({ text: words(MEMORY_LIMITS.noteChars), evidence: evidence.optional() }),
  goal_publish: z.object({
    path: z.string().max(PATH_CHARS_MAX).regex(PATH).describe('Dotted names, such as report.url.'),
    value: z.unknown().refine((value) => value !== undefined, 'is missing'),
  }),
  goal_propose_done: z.object({ because, evidence: evidence.optional() }),
  goal_propose_handoff: z.object({ to: words(NAME_CHARS_MAX), because }),
  goal_ask_pause: z.object({
    until: z
      .string()
      .regex(TIME)
      .optional()
      .describe('Date and time with its offset, such as 2030-01-31T09:00:00Z.'),
    minutes: z.number().positive().max(10_000_000).optional(),
    because,
  }),
  goal_block: z.object({
    kind: z.enum(BLOCK_KINDS),
    because,
    step: words(MEMORY_LIMITS.stepIdChars)
      .optional()
      .describe('Id of the planned step it is about.'),
  }),
} satisfies { readonly [Name in GoalToolName]: z.ZodType };

const DESCRIPTIONS: { readonly [Name in GoalToolName]: string } = {
  goal_plan: `Adds steps to the goal's plan, or changes those with the same id; steps that you leave out stay as they are. A step becomes "done" only with the id of evidence that exists, and counts as progress only if it was planned before this cycle. Drop a step by the status "dropped". At most ${MEMORY_LIMITS.steps} steps.`,
  goal_note: `Keeps a fact for later cycles, which see nothing else of this conversation. Notes are no progress. At most ${MEMORY_LIMITS.notes} in a cycle.`,
  goal_publish: `Publishes a value under a path of the goal's state, where the goal's conditions look at it; once for each path in a cycle, and a later cycle may replace it. The first value of a path is progress. At most ${MEMORY_LIMITS.paths} paths, ${MEMORY_LIMITS.stateBytes} bytes together.`,
  goal_propose_done:
    'Proposes that the goal is done. This ends nothing: after this cycle the goal looks at its own conditions, by checks, evidence, judges and people.',
  goal_propose_handoff:
    'Proposes that another agent works the next cycles; only agents that the goal names can take over.',
  goal_ask_pause:
    'Asks the goal to sleep after this cycle because nothing can be done before a certain time. Give either until or minutes.',
  goal_block:
    'Says that this cycle cannot go on: you lack authority ("authority"), somebody outside has to act first ("external"), or the same thing fails again and again ("repeated"). Cycles in a row that are blocked in the same way end the goal.',
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
