/** Loads what the user wrote: `holdfast.config.ts` with a config made by defineConfig. */
import { existsSync } from 'node:fs';
import { inspect } from 'node:util';
import { createJiti } from 'jiti';
import { isConfig, type Config } from '../authoring/index.js';
import { DEFAULT_BUDGET } from '../core/state/budget-fields.js';
import { HoldfastError, isErrorCode } from '../core/state/errors.js';
import { resolveRouteFor } from '../providers/routes.js';
import { withExitRefused } from './exit-refused.js';
import { findConfig } from './project-folder.js';

export { findConfig } from './project-folder.js';

const REASON_CHARS_MAX = 500;

export interface ConfigPlace {
  /** An exact file; without it the usual names are tried in `folder`, then in those above it. */
  readonly file?: string;
  readonly folder: string;
  /** The file was loaded before, and may have changed since: what Node keeps of a file in plain JavaScript is passed by. */
  readonly anew?: boolean;
}

/** The checked configuration; throws InvalidConfig or UnknownModel, saying what to write where. */
export async function loadConfig(place: ConfigPlace): Promise<Config> {
  const file = place.file ?? findConfig(place.folder);
  if (file === undefined || !existsSync(file)) {
    throw new HoldfastError(
      'InvalidConfig',
      file === undefined
        ? `There is no configuration in ${place.folder}, nor in a folder above it.`
        : `The configuration ${file} does not exist.`,
      {
        hint: 'Begin with `npm create holdfast@latest`, or write one: `holdfast init` does, in a project that has a package.json.',
      },
    );
  }
  const config = exportedConfig(await importFile(file, place.anew === true));
  if (config === undefined) {
    throw new HoldfastError('InvalidConfig', `${file} exports no configuration.`, {
      hint: 'Export it as default or as `config`: export default defineConfig({ agents: […] }).',
    });
  }
  checkModels(config);
  return config;
}

/** Every agent's model must be known with its price before anything is served (G24). */
export function checkModels(config: Config): void {
  for (const agent of config.agents.values()) {
    try {
      resolveRouteFor(agent.model, config, {
        ...DEFAULT_BUDGET,
        ...config.defaults.budget,
        ...agent.budget,
      });
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      const { code, message, hint, details } = error;
      throw new HoldfastError(
        code,
        `The agent ${JSON.stringify(agent.name)} cannot be served: ${message}`,
        {
          ...(hint !== undefined && { hint }),
          ...(details !== undefined && { details }),
          cause: error,
        },
      );
    }
  }
}

const PLAIN = /\.[cm]?js$/;

/** Node imports plain JavaScript itself, once; what is required can be forgotten (`require.cache`). */
async function evaluated(file: string, anew: boolean): Promise<unknown> {
  const jiti = createJiti(__filename, { moduleCache: true });
  if (!anew || !PLAIN.test(file)) return jiti.import(file);
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way that requires
    return jiti(file);
  } catch (error) {
    // An await at the top of a module can only be imported.
    if (/await/.test(String(error))) return jiti.import(file);
    throw error;
  }
}

async function importFile(file: string, anew: boolean): Promise<unknown> {
  try {
    return await withExitRefused(() => evaluated(file, anew));
  } catch (cause) {
    const ours = ownError(cause);
    if (ours !== undefined) throw ours;
    const reason = reasonOf(cause);
    throw new HoldfastError(
      'InvalidConfig',
      `${file} cannot be loaded: ${reason.slice(0, REASON_CHARS_MAX)}`,
      {
        hint: 'Correct the file. `npx tsx` with its name runs it by itself and shows the whole error.',
        cause,
      },
    );
  }
}

/** By its form, not `instanceof`: a loaded module may have its own globals. */
function reasonOf(cause: unknown): string {
  const { message } = (cause ?? {}) as { message?: unknown };
  return typeof message === 'string' && message !== '' ? message : `${inspect(cause)} was thrown.`;
}

/** What Holdfast said of the configuration, also by a copy of Holdfast of the configuration's own. */
function ownError(cause: unknown): HoldfastError | undefined {
  if (cause instanceof HoldfastError) return cause;
  // By its name, not `instanceof`: a loaded module may have its own globals.
  const { name, code, message, hint, details } = (cause ?? {}) as Partial<HoldfastError>;
  if (name !== 'HoldfastError') return undefined;
  return new HoldfastError(isErrorCode(code) ? code : 'InvalidConfig', String(message), {
    ...(typeof hint === 'string' && { hint }),
    ...(typeof details === 'object' && { details }),
    cause,
  });
}

function exportedConfig(module: unknown): Config | undefined {
  const { default: main, config } = (module ?? {}) as { default?: unknown; config?: unknown };
  // A CommonJS file compiled from `export default` arrives with its default one level deeper.
  const inner = (main as { default?: unknown } | undefined)?.default;
  return [main, inner, config].find(isConfig);
}
