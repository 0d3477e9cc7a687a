/** The simulation: a run in this process, under a virtual clock, with faults where one wants them. */
export { virtualClock, type VirtualClock } from './clock.js';
export { mortal, newLife, type Life, type Seam, type SeamPoint } from './mortal.js';
export {
  SIMULATION_START,
  startSimulation,
  type Message,
  type Simulation,
  type SimulationOptions,
} from './simulation.js';
export type { SimulatedWorkers } from './worker.js';
