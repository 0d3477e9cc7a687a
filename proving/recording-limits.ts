/** Limits and field schemas that both recorded formats share. */
import { z } from 'zod';

export const RUNS_MAX = 100_000;
export const MESSAGES_MAX = 10_000;
export const CALLS_MAX = 1_000;
const TEXT_CHARS_MAX = 4_000_000;

export const textSchema = z.string().max(TEXT_CHARS_MAX);
export const idSchema = z.string().max(500);
export const argumentsSchema = z.record(z.string().max(1_000), z.unknown());
