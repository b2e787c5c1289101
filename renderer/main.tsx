import '@fontsource-variable/inter';
import './design/tokens.css';
import './design/base.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { connect, type HostConnection } from './host/connection.ts';
import { openPort, openSocket } from './host/lines.ts';
import { HostProvider } from './host/use-host.tsx';
import { takeWindowKey } from './host/window-key.ts';
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

async function start(): Promise<void> {
  const host = await openHost();
  createRoot(document.getElementById('window')!).render(
    <HostProvider host={host}>
      <App />
    </HostProvider>,
  );
}

takeWindowKey();
startTheme();
// Not awaited: what it fetches may lie in a file that imports this one, and waits for this module's end.
void start();
