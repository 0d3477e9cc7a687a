/** The simulation: a run in this process, under a virtual clock, with faults where one wants them. */
export { virtualClock } from './clock.js';
export { mortal, newLife, type Life, type SeamPoint } from './mortal.js';
export { SIMULATION_START, startSimulation, type Message, type Simulation } from './simulation.js';
