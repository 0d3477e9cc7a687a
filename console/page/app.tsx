/** The page begins here. */
import { render } from 'preact';
import { Shell } from './shell/shell.js';

const root = document.getElementById('page');
if (root !== null) render(<Shell />, root);
