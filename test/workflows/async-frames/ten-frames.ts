import { withFrames } from './frames.js';

export const interceptors = () => withFrames(10);
