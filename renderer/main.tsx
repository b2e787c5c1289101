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

function openHost(): HostConnection {
  const bridge = window.dray;
  if (bridge) return connect(() => openPort(bridge));
  const url = new URL('/host', location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return connect(() => openSocket(url.href));
}

takeWindowKey();
startTheme();
createRoot(document.getElementById('window')!).render(
  <HostProvider host={openHost()}>
    <App />
  </HostProvider>,
);
