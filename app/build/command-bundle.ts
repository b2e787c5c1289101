/**
 * The command's bundle. The code that nearly every run needs is one CommonJS file: Node needs about a
 * millisecond to find, link and evaluate an ES module, and forty such files took half of a short run. An ES
 * module that imports one of Node's own modules also evaluates every lazy part of it. Large packages that
 * few runs need are files of their own, loaded on demand.
 *
 * | file | content |
 * | --- | --- |
 * | `dray.js` | the check of Node's version, and the compile cache |
 * | `command.cjs` | the command line and the engine |
 * | `*-worker.js` | the code of a thread |
 * | others | packages of `APART`, and the modules that they share |
 */
import { createRequire } from 'node:module';
import { type BuildResult, build, type Plugin } from 'esbuild';
import { lazyBuiltins } from './lazy-builtins.ts';
import { moduleOptions, NATIVE_PACKAGES, sharedOptions } from './node-bundle.ts';
import { originalFs } from './original-fs.ts';

const TARGET = 'node22';
const requireHere = createRequire(import.meta.url);

const WORKERS = {
  'hash-worker': 'engine/files/read/hash-worker.ts',
  'write-worker': 'engine/files/write/write-worker.ts',
  'block-worker': 'engine/files/blocks/block-worker.ts',
  'compress-worker': 'engine/compression/compress-worker.ts',
  'seal-worker': 'engine/repository/encryption/seal-worker.ts',
  'digest-worker': 'engine/transfer/download/digest-worker.ts',
  'parquet-worker': 'engine/host/preview/parquet/parquet-worker.ts',
};

/** Packages that are only imported dynamically: file name and package. */
export const APART = {
  'aws-client-s3': '@aws-sdk/client-s3',
  'aws-credential-providers': '@aws-sdk/credential-providers',
  'aws-lib-storage': '@aws-sdk/lib-storage',
  'hash-wasm': 'hash-wasm',
  'js-yaml': 'js-yaml',
  'own-certificate': 'selfsigned',
  websocket: 'ws',
};

/**
 * The window's engine and the library are a separate bundle: they share modules with the command, and code
 * splitting would split files by what both use. The window loads the link to Temporal itself.
 */
const HOST = {
  'host-worker': 'engine/host/host-worker.ts',
  'fleet-link': 'app/fleet/fleet-link.ts',
  library: 'app/library/dray.ts',
};

export type Bundle = Pick<BuildResult<{ write: false; metafile: true }>, 'metafile' | 'outputFiles'>;

/**
 * @param root The project's folder, ending in `/`. @param folder The future folder of the files; nothing is
 * written.
 */
export async function bundleCommand(root: string, folder: string): Promise<readonly Bundle[]> {
  const modules = { ...moduleOptions(root), outdir: folder, target: TARGET };
  const single = { ...modules, splitting: false };
  return Promise.all([
    build({ ...single, entryPoints: { dray: 'app/cli/main.ts' }, plugins: [commandBeside()] }),
    build({
      ...sharedOptions(root),
      entryPoints: { command: 'app/cli/run.ts' },
      outdir: folder,
      target: TARGET,
      format: 'cjs',
      outExtension: { '.js': '.cjs' },
      mainFields: ['module', 'main'],
      plugins: [packagesApart(), nativePackages(), lazyBuiltins()],
      // Strict mode, as in ES modules: esbuild's own directive would come after this line. Also defines the
      // bundle's own URL, as `import.meta.url` in ES modules.
      banner: { js: `'use strict';\nconst bundleUrl = require('node:url').pathToFileURL(__filename).href;` },
      define: { ...sharedOptions(root).define, 'import.meta.url': 'bundleUrl' },
      logOverride: { 'ambiguous-reexport': 'error' },
    }),
    build({ ...single, entryPoints: WORKERS, plugins: [packagesApart(), originalFs(root)] }),
    build({ ...modules, entryPoints: APART, plugins: [...modules.plugins, namedExports()] }),
    build({ ...modules, entryPoints: HOST, plugins: [...modules.plugins, packagesApart()] }),
  ]);
}

/**
 * The entry is an ES module that requires the command. To import CommonJS, Node would first scan all of it
 * for exports.
 */
function commandBeside(): Plugin {
  return {
    name: 'command-beside',
    setup(build) {
      build.onResolve({ filter: /^\.\/run\.ts$/ }, () => ({ path: 'command.cjs', namespace: 'beside' }));
      build.onLoad({ filter: /./, namespace: 'beside' }, ({ path }) => ({
        contents: `import { createRequire } from 'node:module';
          export const { run } = createRequire(import.meta.url)('./${path}');`,
      }));
    },
  };
}

function packagesApart(): Plugin {
  const files = new Map(Object.entries(APART).map(([file, name]) => [name, `./${file}.js`]));
  return {
    name: 'packages-apart',
    setup(build) {
      build.onResolve({ filter: /^[@a-z]/ }, ({ kind, path }) => {
        const file = files.get(path);
        if (file === undefined) return undefined;
        if (kind === 'dynamic-import') return { path: file, external: true };
        return { errors: [{ text: `${path} is a file of its own in the bundle: import it dynamically.` }] };
      });
    },
  };
}

/**
 * An ES module made from a CommonJS package has only a default export, since its names are known only at run
 * time. So the bundle exports the names that Node finds.
 */
function namedExports(): Plugin {
  const NAMESPACE = 'named-exports';
  return {
    name: 'named-exports',
    setup(build) {
      build.onResolve({ filter: /^[@a-z]/ }, async ({ kind, path }) => {
        if (kind !== 'entry-point' || !('module.exports' in (await import(path)))) return undefined;
        // Some packages have ES modules for bundlers beside the files for Node.
        const { module: forBundlers } = requireHere(`${path}/package.json`);
        return forBundlers === undefined ? { path, namespace: NAMESPACE } : undefined;
      });
      build.onLoad({ filter: /./, namespace: NAMESPACE }, async ({ path }) => {
        const { default: _, 'module.exports': __, ...names } = await import(path);
        return {
          contents: `export { default, ${Object.keys(names).join(', ')} } from '${path}';`,
          resolveDir: build.initialOptions.absWorkingDir ?? '.',
        };
      });
    },
  };
}

/**
 * In CommonJS an `import()` of a native package becomes a `require`, so Node's loader of ES modules need not
 * start.
 */
function nativePackages(): Plugin {
  const NAMESPACE = 'native-package';
  return {
    name: 'native-packages',
    setup(build) {
      build.onResolve({ filter: new RegExp(`^(?:${NATIVE_PACKAGES.join('|')})$`) }, ({ kind, path }) =>
        kind === 'dynamic-import' ? { path, namespace: NAMESPACE } : { path, external: true },
      );
      build.onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => ({
        contents: `module.exports = require('${path}');`,
      }));
    },
  };
}
