/**
 * What all workflows of a worker share: loaded once instead of once for each run and goal that a worker remembers.
 * Invariant: only code of core/, which keeps nothing between two calls; whatever the workflows here import of it by value.
 */
import '../core/goal/engine.js';
import '../core/goal/open.js';
import '../core/goal/result.js';
import '../core/goal/signals.js';
import '../core/json/shape.js';
import '../core/loop/engine.js';
import '../core/loop/open.js';
import '../core/loop/run-result.js';
import '../core/loop/signals.js';
import '../core/messages/parse-goal-message.js';
import '../core/messages/parse-goal-start.js';
import '../core/messages/parse-start.js';
import '../core/messages/run-id.js';
import '../core/state/effect.js';
import '../core/state/failure.js';
import '../core/state/replay-mark.js';
import '../core/step/brief-input.js';
import '../core/step/brief-output.js';
import '../core/step/changes.js';
import '../core/step/code-id.js';
