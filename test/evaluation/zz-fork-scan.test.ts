import { foldOf } from '../../recording/fold.js';
import { playDry } from '../../evaluation/fork/dry.js';
import { scriptOf } from '../../providers/scripted/script.js';
import { startScriptedModel } from '../../providers/scripted/server.js';
import { createAnthropicProvider } from '../../providers/anthropic.js';
import { resolveRoute } from '../../providers/routes.js';
import { recordedRun, recordedRuns } from './capture/recorded-runs.js';
test('scan', async () => {
  const model = await startScriptedModel({ script: scriptOf(Array.from({length: 30000}, () => ({ text: 'Done.' }))) });
  const provider = createAnthropicProvider({ apiKey: 'x', baseUrl: model.baseUrl } as never);
  const problems = new Map<string, string[]>();
  let forks = 0, effects = 0; const ends = new Map<string, number>();
  for (const name of recordedRuns()) {
    let fold; const bundle = recordedRun(name);
    fold = foldOf(bundle);
    if (fold.kind !== 'run') continue;
    for (let step = 1; step <= fold.steps.length; step += 1) {
      forks += 1;
      try {
        const got = await Promise.race([
          playDry(fold, { bundle, step }, { changes: { route: resolveRoute('scripted/new') }, providers: new Map([['scripted', provider], ['anthropic', provider], [resolveRoute('scripted/new').provider, provider]]) }),
          new Promise<never>((_, no) => setTimeout(() => no(new Error('slow')), 20000)),
        ]);
        effects += got.wouldExecute.length;
        const end = got.waitsFor ? 'waits ' + got.waitsFor.kind : got.stopReason + ' ' + (got.detail ?? '');
        ends.set(end, (ends.get(end) ?? 0) + 1);
      } catch (error) {
        const e = error as Error; const key = e.message.slice(0, 160) + '\n' + (e.message.includes('step') && (e as any).code ? '' : (e.stack ?? '').split('\n').slice(1, 4).join('\n'));
        problems.set(key, [...(problems.get(key) ?? []), name + '@' + step]);
      }
    }
  }
  await model.stop();
  console.log(forks, effects, ends);
  for (const [k, v] of problems) console.log(v.length, k, v.slice(0, 6).join(' '));
}, 900000);
