import { heldSide, bareSide } from './bench/sides.js';
import { startBenchModel, startBenchServer } from './bench/setting.js';
async function main() {
  const server = await startBenchServer(process.env); const model = await startBenchModel(0);
  const side = process.argv[2] === 'bare' ? await bareSide({ server, model }, 'delta') : await heldSide({ server, model });
  await side.run({ turns: 20, label: 'w' });
  const c0 = process.cpuUsage(); 
  for (let i = 0; i < 4; i++) console.log(process.argv[2], ((await side.run({ turns: 100, label: 'h' + i })) / 100).toFixed(2));
  const c = process.cpuUsage(c0); console.log('cpu ms/turn', (c.user + c.system) / 1000 / 400);
  await side.stop(); await model.stop(); await server.stop();
}
void main();
