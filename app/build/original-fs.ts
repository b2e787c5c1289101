/**
 * Electron replaces functions of `node:fs` in its main process, its threads and its utility processes: they
 * take a file in `.asar` for a folder, and fail if it is no archive. That is how an app reads its own files.
 * The engine reads and writes a user's files, so its modules get the functions that Electron keeps as
 * `original-fs`. Node has no such module.
 */
import type { Plugin } from 'esbuild';

const NAMESPACE = 'original-fs';

/** @param root The project's folder, ending in `/`. */
export function originalFs(root: string): Plugin {
  return {
    name: 'original-fs',
    setup(build) {
      build.onResolve({ filter: /^node:fs(?:\/promises)?$/ }, ({ path, importer }) =>
        importer.replaceAll('\\', '/').startsWith(`${root.replaceAll('\\', '/')}engine/`)
          ? { path, namespace: NAMESPACE, sideEffects: false }
          : undefined,
      );
      build.onLoad({ filter: /./, namespace: NAMESPACE }, async ({ path }) => {
        const { default: _, 'module.exports': __, ...names } = await import(path);
        const promises = path.endsWith('/promises') ? '.promises' : '';
        return {
          contents: `const { getBuiltinModule } = process;
            const files = (getBuiltinModule('original-fs') ?? getBuiltinModule('node:fs'))${promises};
            const functionOf = (name) => files[name];
            ${Object.keys(names)
              .map((name) => `export const ${name} = /* @__PURE__ */ functionOf('${name}');`)
              .join('\n')}`,
        };
      });
    },
  };
}
