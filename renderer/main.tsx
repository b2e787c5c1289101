import '@fontsource-variable/inter';
import './design/tokens.css';
import './design/base.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { connect, type HostConnection } from './host/connection.ts';
import { openPort, openSocket } from './host/lines.ts';
import { HostProvider } from './host/use-host.tsx';
import { startTheme } from './shell/theme.ts';

async function openHost(): Promise<HostConnection> {
  if (new URLSearchParams(location.search).has('fixture')) {
    const { openFixture } = await import('./host/fixture.ts');
    return connect(openFixture);
  }
  const bridge = window.dray;
  if (bridge) return connect(() => openPort(bridge));
  const url = new URL('/host', location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return connect(() => openSocket(url.href));
}

/** A function and no `await` of the module's own: a chunk that takes something from this one would wait for it for ever. */
async function start(): Promise<void> {
  const host = await openHost();
  createRoot(document.getElementById('window')!).render(
    <HostProvider host={host}>
      <App />
    </HostProvider>,
  );
}

startTheme();
void start();
