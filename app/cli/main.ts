#!/usr/bin/env node
/**
 * The entry of the `dray` command. It must run on any Node with ES modules before the version check, so it
 * uses no recent syntax and no static import except `node:module`.
 */
import module from 'node:module';
import { isNodeNewEnough, NODE_REQUIRED } from './node-version.ts';

if (isNodeNewEnough(process.versions.node)) {
  // Caches compiled code between runs. NODE_COMPILE_CACHE names another folder; NODE_DISABLE_COMPILE_CACHE=1
  // turns it off.
  if (module.enableCompileCache) module.enableCompileCache();
  import('./run.ts').then((loaded) => loaded.run(process.argv.slice(2)));
} else {
  console.error(`dray: needs Node ${NODE_REQUIRED} or newer, and this is Node ${process.versions.node}.`);
  process.exitCode = 2;
}
