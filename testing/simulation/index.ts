/** The simulation: a run in this process, under a virtual clock, with faults where one wants them. */
export { virtualClock, type VirtualClock } from './clock.js';
export type { SeamPoint } from '../seams.js';
export { mortal, newLife, type Life } from './mortal.js';
export { SIMULATION_START } from './machine.js';
export { startSimulation, type Message, type Simulation } from './simulation.js';
export {
  startGoalSimulation,
  type GoalInputMessage,
  type GoalSimulation,
} from './goal-simulation.js';
