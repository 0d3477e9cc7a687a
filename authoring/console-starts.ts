/** What may be started over the approval desk, and what other agents may decide through `holdfast mcp-server`. */
import { z } from 'zod';
import { microUsdOf } from './budget-in-usd.js';

const name = z.string().trim().min(1).max(200);
const names = z.array(name).max(200);
const USD_MAX = 1_000_000;

/** In the configuration dollars, afterwards micro-USD. */
const usd = z
  .number()
  .min(0)
  .max(USD_MAX)
  .transform((dollars) => microUsdOf(dollars) ?? 0);

export const starts = z
  .strictObject({
    /** Names of agents; default: all of the configuration. */
    agents: names.optional(),
    /** Names of goals; default: all of the configuration. */
    goals: names.optional(),
    /** Most that one run or goal started here may cost; its own limit counts where that is lower. */
    maxCostUsd: usd.optional(),
  })
  .prefault({});

const decisions = z.strictObject({
  /** By the name of the tool whose calls may be decided. */
  tools: z
    .record(
      name,
      z.strictObject({
        /**
         * Largest amount that may be approved, in the smallest unit of the currency (cents); a call that declares
         * none is then never approved. Absent: a call that declares an amount is never approved.
         */
        maxAmount: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
      }),
    )
    .refine((all) => Object.keys(all).length <= 200, 'must name at most 200 tools')
    .default({}),
  /** Largest budget of a run after a raise. Absent: budgets are never decided on. */
  maxBudgetUsd: usd.optional(),
});

export const mcpServer = z
  .strictObject({
    /** Absent: other agents see what waits for people, and decide nothing. */
    decisions: decisions.optional(),
    /** Names under which the server over HTTP is reached, beside those of this machine. */
    hosts: z.array(z.string().trim().toLowerCase().min(1).max(255)).max(50).default([]),
    /** Origins of pages that may call it (`https://tools.example.com`); default: none. */
    origins: z.array(z.string().trim().toLowerCase().min(1).max(2_000)).max(50).default([]),
  })
  .prefault({});

export type AgentDecisions = z.output<typeof decisions>;
