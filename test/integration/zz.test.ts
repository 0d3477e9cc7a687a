import { startWorld } from './support/world.js';
test('x', async () => {
  let t = performance.now();
  const lap = (what: string) => { console.log(what, Math.round(performance.now() - t)); t = performance.now(); };
  const world = await startWorld({ worker: false });
  lap('world');
  await world.spawn();
  lap('spawn');
  await Promise.all([world.spawn(), world.spawn()]);
  lap('spawn two');
  await world.serve();
  lap('serve');
  await world.stop();
  lap('stop');
});
