/**
 * undici's pool alone. The package's entry also loads fetch, WebSocket, caches and proxies, which takes
 * about four times as long (measured cold on Node 24) and which nothing here uses.
 */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';
  export default Pool;
}
