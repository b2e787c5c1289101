import '@fontsource-variable/inter';
import './design/tokens.css';
import './design/base.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { openMessagePort, openWebSocket } from './host/host-ports.ts';
import { createReconnectingHost, type ReconnectingHost } from './host/reconnecting-host.ts';
import { SavedJobsProvider } from './host/saved-jobs.tsx';
import { HostProvider } from './host/use-host.tsx';
import { takeWindowKey } from './host/window-key.ts';
import { startDensity } from './shell/appearance/density.ts';
import { startTheme } from './shell/appearance/theme.ts';

function openHost(): ReconnectingHost {
  const bridge = window.dray;
  if (bridge) return createReconnectingHost(() => openMessagePort(bridge));
  const url = new URL('/host', location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return createReconnectingHost(() => openWebSocket(url.href));
}

takeWindowKey();
startTheme();
startDensity();
createRoot(document.getElementById('window')!).render(
  <HostProvider host={openHost()}>
    <SavedJobsProvider>
      <App />
    </SavedJobsProvider>
  </HostProvider>,
);
