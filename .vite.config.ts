/**
 * The window's build. `app/build/build-window.ts` says where it goes; `vite --config .vite.config.ts` alone
 * serves it for development.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

const JSX_RUNTIME = fileURLToPath(new URL('renderer/jsx/jsx-runtime.ts', import.meta.url));

export default defineConfig({
  root: 'renderer',
  // Paths are relative: the same files are served by loopback and by the desktop's own protocol.
  base: './',
  publicDir: false,
  plugins: [react({ jsxImportSource: '#window' })],
  resolve: { alias: [{ find: /^#window\/jsx(?:-dev)?-runtime$/, replacement: JSX_RUNTIME }] },
  define: { DRAY_VERSION: JSON.stringify(version) },
  build: {
    // Browsers of the last two years; Electron's is newer than any of them.
    target: ['chrome131', 'firefox132', 'safari18.1'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
    // All that the first screen needs comes as one script and one style sheet: a browser takes six files at a
    // time from one place.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'start', tags: ['$initial'] }] } } },
  },
});
