// A worker goes on when its installation is taken from under it, as a deployment may do: what it may need later is loaded
// within its first seconds. Run in a project that has the package, which asks and looks; in the one that is named
// `holdfast worker` serves, its `node_modules` are moved away, a run that calls a model and a tool is started and ends, the
// worker ends, and they are put back.
//   node .ci/moved-away.cjs PROJECT
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { existsSync, mkdtempSync, renameSync, rmSync } = require('node:fs');
const { createRequire } = require('node:module');
const { tmpdir } = require('node:os');
const { join, resolve } = require('node:path');
const { isMainThread } = require('node:worker_threads');

const LIMIT_MS = 90_000;
/** The worker tells so often how much it has loaded, between slices of loading; so many times alike, and it is done. */
const TOLD_EVERY_MS = 100;
const TOLD_ALIKE = 40;
const ORDER = 'ORDER-1';

/** In the worker's process; who tells in vain ends. */
function tellWhatIsLoaded() {
  setInterval(() => process.send(Object.keys(require.cache).length), TOLD_EVERY_MS).unref();
}

const interrupted = new Promise((_, reject) => {
  for (const signal of require.main === module ? ['SIGINT', 'SIGTERM'] : [])
    process.on(signal, () => reject(new Error(`${signal} came`)));
});
interrupted.catch(() => undefined);

/** Ends what waits too long, and what nobody wants any more. */
async function within(waiting, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${LIMIT_MS} ms`)), LIMIT_MS);
  });
  try {
    return await Promise.race([waiting, late, interrupted]);
  } finally {
    clearTimeout(timer);
  }
}

function startWorker({ project, store, address, model }) {
  const main = join(project, 'node_modules', 'holdfast', 'dist', 'cli', 'main.js');
  const place = ['--json', '--address', address, '--store', store];
  const child = spawn(process.execPath, ['--require', __filename, main, 'worker', ...place], {
    cwd: project,
    env: { ...process.env, ANTHROPIC_API_KEY: 'scripted', ANTHROPIC_BASE_URL: model.baseUrl },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const worker = { child, said: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (worker.said += text));
  worker.ended = once(child, 'exit').then(([code]) => code);
  return worker;
}

/** When it serves and nothing more is loaded. */
async function hasLoaded(worker) {
  let [modules, alike] = [0, 0];
  const loaded = new Promise((done) => {
    worker.child.on('message', (now) => {
      alike = now === modules && worker.said.includes('"serving"') ? alike + 1 : 0;
      modules = now;
      if (alike === TOLD_ALIKE) done();
    });
  });
  const ended = worker.ended.then((code) => {
    throw new Error(`the worker ended with ${code}`);
  });
  await within(Promise.race([loaded, ended]), 'to serve and to load');
  return modules;
}

async function played(client) {
  const run = await client.start({ agent: 'orders', runId: 'moved', task: `Where is ${ORDER}?` });
  const result = await within(run.result({ timeoutMs: LIMIT_MS }), 'the run');
  const { completed, stopReason, detail } = result;
  if (!completed) throw new Error(`the run ended with ${stopReason} (${detail})`);
  const { messages } = await client.transcript('moved');
  if (!JSON.stringify(messages).includes('delivered')) throw new Error('no tool has answered');
}

async function main(project) {
  const packages = join(project, 'node_modules');
  const away = join(project, 'node_modules.away');
  const data = mkdtempSync(join(tmpdir(), 'holdfast-moved-'));
  const store = join(data, 'store.db');
  const installed = createRequire(join(process.cwd(), 'any.js'));
  const { connect, openStore } = installed('holdfast');
  const { startScriptedModel, startTestServer } = installed('holdfast/testing');
  const closing = [async () => rmSync(data, { recursive: true })];
  let asked = 0;
  const putBack = () => existsSync(away) && renameSync(away, packages);
  let worker;
  try {
    const server = await startTestServer({ environment: process.env });
    closing.push(() => server.stop());
    const model = await startScriptedModel({
      script: ({ assistantMessages: n }) => {
        asked += 1;
        return n === 0
          ? { calls: [{ tool: 'orders.read', input: { orderId: ORDER } }] }
          : { text: 'It was brought.' };
      },
    });
    closing.push(() => model.stop());
    worker = startWorker({ project, store, address: server.address, model });
    closing.push(() => worker.child.kill('SIGKILL') && worker.ended);
    const modules = await hasLoaded(worker);
    const opened = await openStore({ file: store });
    closing.push(() => opened.close());
    const client = await connect({ address: server.address, store: opened });
    closing.push(() => client.close());
    renameSync(packages, away);
    await played(client);
    if (asked !== 2) throw new Error(`the model was asked ${asked} times in place of twice`);
    worker.child.kill('SIGINT');
    const code = await within(worker.ended, 'to end');
    if (code !== 0) throw new Error(`the worker ended with ${code}`);
    putBack();
    console.log(
      `ok: a worker with ${modules} modules goes on when its node_modules are moved away`,
    );
  } catch (error) {
    console.error(worker?.said ?? 'There was no worker yet.');
    console.error(error);
    console.error(
      existsSync(away)
        ? 'A worker whose node_modules were moved away did not go on (above): what it lacked, worker/load-whole.ts has to load.'
        : 'No node_modules were moved away from a worker (above).',
    );
    process.exitCode = 1;
  } finally {
    putBack();
    for (const close of closing.reverse()) await close();
  }
}

if (require.main === module) void main(resolve(process.argv[2]));
else if (isMainThread) tellWhatIsLoaded();
