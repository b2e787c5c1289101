/**
 * Imitates Electron's file system in Node, when it is imported before a program: `fs` takes a path with a
 * name in `.asar` for an archive, and `original-fs` is Node's own. Here it refuses all archives.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const PATCHED = [
  ...['access', 'chmod', 'copyFile', 'cp', 'link', 'lstat', 'open', 'opendir', 'readFile', 'readdir'],
  ...['realpath', 'rename', 'rm', 'stat', 'statfs', 'truncate', 'unlink', 'utimes', 'writeFile'],
];
type Call = (...parameters: unknown[]) => unknown;

const original = Object.defineProperties({}, Object.getOwnPropertyDescriptors(fs));
Object.defineProperty(original, 'promises', { value: { ...fs.promises } });

function refuse(real: Call, isLate: boolean): Call {
  return (...parameters) => {
    if (!/\.asar(?:[\\/]|$)/.test(String(parameters[0]))) return real(...parameters);
    const error = new Error(`Invalid package ${parameters[0]}`);
    if (isLate) return Promise.reject(error);
    const answer = parameters.at(-1);
    if (typeof answer !== 'function') throw error;
    process.nextTick(() => answer(error));
  };
}

for (const module of [fs, fs.promises] as unknown as Record<string, Call>[]) {
  for (const name of PATCHED.flatMap((name) => [name, `${name}Sync`])) {
    const real = module[name];
    if (real) module[name] = Object.assign(refuse(real, module === (fs.promises as unknown)), real);
  }
}
syncBuiltinESMExports();

const { getBuiltinModule } = process;
process.getBuiltinModule = ((id: string) =>
  id === 'original-fs' ? original : getBuiltinModule(id)) as typeof getBuiltinModule;
