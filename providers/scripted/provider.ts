/**
 * The provider behind a configuration's script: the scripted model, started on loopback when it is asked first, and ended
 * when nobody has asked for a while.
 */
import { HoldfastError } from '../../core/state/errors.js';
import { isRecord } from '../../pure/options.js';
import { createAnthropicProvider } from '../anthropic.js';
import type { Provider } from '../provider.js';
import { SCRIPTED_PROVIDER } from '../routes.js';
import { BYTES_PER_TOKEN, countedUsage } from './render.js';
import { replyDefect } from './reply-fields.js';
import type { Script, ScriptedAnswer, ScriptedMessage, ScriptedRequest } from './script.js';
import { SCRIPT_FAILED, startScriptedModel, type ScriptedModel } from './server.js';

/** A server that is not asked for this long ends, ms. */
const IDLE_MS = 30_000;

interface Started {
  readonly model: ScriptedModel;
  readonly provider: Provider;
}

export function createScriptedProvider(script: Script, idleMs = IDLE_MS): Provider {
  let started: Promise<Started> | undefined;
  let asked = 0;
  let idle: NodeJS.Timeout | undefined;

  const end = (): void => {
    const ending = started;
    started = undefined;
    void ending?.then(({ model }) => model.stop()).catch(() => undefined);
  };

  return {
    name: SCRIPTED_PROVIDER,
    async complete(request, progress) {
      clearTimeout(idle);
      asked += 1;
      try {
        started ??= start(script);
        return await (await started).provider.complete(request, progress);
      } catch (error) {
        throw blamingScript(error);
      } finally {
        asked -= 1;
        if (asked === 0) idle = setTimeout(end, idleMs).unref();
      }
    },
  };
}

/** Behind a script stands no vendor. */
function blamingScript(error: unknown): unknown {
  if (!(error instanceof HoldfastError) || !error.message.includes(SCRIPT_FAILED)) return error;
  const { code, message, details, cause } = error;
  const said = message.slice(message.indexOf(SCRIPT_FAILED) + SCRIPT_FAILED.length + 2);
  // The message lists the fields that there are; a hint is short.
  const short = said.replace(/; the fields .*/, '.').replace(/ The fields .*/, '');
  const why = code === 'InvalidRequest' ? short : 'it has thrown.';
  const hint = `Mend the function that the configuration has as \`scripted\`: ${why}`;
  return new HoldfastError(code, message, { hint, ...(details && { details }), cause });
}

async function start(script: Script): Promise<Started> {
  const model = await startScriptedModel({ script: cutting(script), background: true });
  const settings = { name: SCRIPTED_PROVIDER, apiKey: 'scripted', baseUrl: model.baseUrl };
  return { model, provider: createAnthropicProvider(settings) };
}

/** No vendor writes more than the request allows: money that is left bounds it. */
function cutting(script: Script): Script {
  return async (request) => cut(await script(request), request);
}

function cut(answer: ScriptedAnswer, request: ScriptedRequest): ScriptedAnswer {
  const { maxTokens } = request;
  // What is no reply is told as it is.
  if (!isMessage(answer) || maxTokens === 0) return answer;
  const { output } = countedUsage({ request, message: answer, bodyBytes: 0 });
  if (output <= maxTokens) return answer;
  const { text, calls: _, ...rest } = answer;
  return {
    ...rest,
    ...(text !== undefined && { text: beginning(text, maxTokens * BYTES_PER_TOKEN) }),
    stopReason: 'max_tokens',
    usage: { ...answer.usage, output: maxTokens },
  };
}

/** Not within a character. */
function beginning(text: string, chars: number): string {
  return text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '');
}

function isMessage(answer: ScriptedAnswer): answer is ScriptedMessage {
  if (!isRecord(answer) || 'status' in answer || 'garbage' in answer) return false;
  return replyDefect(answer) === undefined;
}
