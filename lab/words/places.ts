/** Where texts for users stand. */
import { FLOORS } from '../floors/house.js';
import { filesIn } from './codes.js';

/** Whatever is in the house, but what only its builders read. */
const ROOMS = new Set(FLOORS.flat().map((room) => room.split('/')[0]));
ROOMS.delete('lab');
const SOURCE = /\.tsx?$/;
const DOCUMENTS =
  /^(?:README\.md|CONTRIBUTING\.md|create-holdfast\/.*\.md|examples\/.*\.md|docs\/.*\.md)$/;
/** Records of the project, and lists that are written from other files. */
const RECORDS =
  /^docs\/(?:progress|reference\/(?:performance|measured)|specification\/(?:scenarios|invariants))\.md$/;
/** Of the core, texts that people read and no history has. */
const TOLD_BY_CORE = [
  'core/loop/rules.ts',
  'core/step/changes.ts',
  'core/step/goal-changes.ts',
  'core/state/warning.ts',
];
/** Texts that a model reads or says. Histories, conversations and cases have them as they are. */
const OF_MODELS = [
  'activities/model/compact.ts',
  'activities/run/prompt.ts',
  'evaluation/convert-task.ts',
  'examples/refund/script.ts',
  'pure/session-repair.ts',
];

export function sourcesIn(root: string): readonly string[] {
  return filesIn(root)
    .filter((file) => SOURCE.test(file) && ROOMS.has(file.split('/')[0]))
    .filter((file) => !file.startsWith('core/') || TOLD_BY_CORE.includes(file))
    .filter((file) => !OF_MODELS.includes(file));
}

export function documentsIn(root: string): readonly string[] {
  return filesIn(root).filter((file) => DOCUMENTS.test(file) && !RECORDS.test(file));
}
