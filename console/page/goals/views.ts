/** The views of goals, fetched together; the charts come when somebody opens them. */
export { BriefView } from './brief-view.js';
export { EvidenceView } from './evidence-view.js';
export { GoalView } from './goal-view.js';
export { GoalsView } from './goals-view.js';
