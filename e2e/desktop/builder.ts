/** The modules of electron-builder, which it does not export. */
import { createRequire } from 'node:module';

export const requireOfBuilder = createRequire(
  createRequire(import.meta.resolve('electron-builder/cli.js')).resolve('app-builder-lib'),
);
