/** The input that an effect's end is. */
import type { EffectInput } from '../core/state/input.js';

export interface Report<T> {
  done(output: T): EffectInput | undefined;
  failed(error: unknown): EffectInput | undefined;
}
