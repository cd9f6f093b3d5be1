import { fileURLToPath } from 'node:url';

/** The folder of this package, where npm finds its scripts. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
