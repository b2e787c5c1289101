import './app.css';
import { Suspense, useEffect, useRef, useState } from 'react';
import { RouterProvider } from 'react-aria-components';
import { Button } from './design/button.tsx';
import { Icon } from './design/icon.tsx';
import { Loading } from './design/states.tsx';
import { useAsk, useHost, useLineState, useRefresh } from './host/use-host.tsx';
import { goTo, useRoute } from './route.ts';
import { RecordThroughput } from './screens/transfers/record-throughput.tsx';
import { CommandPalette } from './shell/command-palette.tsx';
import { NotifyEndings } from './shell/notify-endings.tsx';
import { Rail } from './shell/rail.tsx';
import { ScreenBoundary } from './shell/screen-boundary.tsx';
import { fetchScreens, SCREENS } from './shell/screens.ts';
import { applyTheme } from './shell/theme.ts';
import { showToast, Toasts } from './shell/toasts.tsx';
import { chooseWorkspace } from './shell/use-workspace.ts';

/** The window: rail, screen, and what may lie over them. */
export function App() {
  const { screen, given } = useRoute();
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const { Screen } = SCREENS[screen];
  useThemeOfSettings();
  useNamedWorkspace(given.workspace);
  useScreenFocus(screen);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      setPaletteOpen((isOpen) => !isOpen);
    };
    addEventListener('keydown', onKey);
    const idle = setTimeout(fetchScreens, 1_000);
    return () => {
      removeEventListener('keydown', onKey);
      clearTimeout(idle);
    };
  }, []);
  return (
    <RouterProvider navigate={(href) => location.assign(href)}>
      <button type="button" className="skip" onClick={focusScreen}>
        Skip to the screen
      </button>
      <AwayBanner />
      <div className="window">
        <Rail onPalette={() => setPaletteOpen(true)} />
        <ScreenBoundary key={screen}>
          <Suspense fallback={<Loading label="Opening" />}>
            <Screen />
          </Suspense>
        </ScreenBoundary>
      </div>
      <CommandPalette isOpen={isPaletteOpen} onClose={() => setPaletteOpen(false)} />
      <Toasts />
      <RecordThroughput />
      {!window.dray && <NotifyEndings />}
    </RouterProvider>
  );
}

/** An address may name the workspace that its screen is about: a link into the desktop app does. */
function useNamedWorkspace(root: string | undefined): void {
  const refresh = useRefresh();
  useEffect(() => {
    if (root === undefined) return;
    chooseWorkspace(root);
    void refresh('home.list');
  }, [root, refresh]);
}

/** Shown while the engine is not there; what is on the screen stays readable. That it is back is said too, since it may be so at once. */
function AwayBanner() {
  const host = useHost();
  const state = useLineState();
  const wasAway = useRef(false);
  useEffect(() => {
    if (state === 'away') wasAway.current = true;
    if (state !== 'open' || !wasAway.current) return;
    wasAway.current = false;
    showToast({
      tone: 'info',
      title: "Dray's engine is back",
      text: 'What you see is up to date again. If it had ended, what it moved stands paused in Transfers.',
      action: { label: 'Open Transfers', onPress: () => goTo('transfers') },
    });
  }, [state]);
  return (
    <div role="status" className={state === 'away' ? 'away' : 'unseen'}>
      {state === 'away' && (
        <>
          <Icon name="warning" />
          <span className="grow">
            Dray's engine is away. What you see may be old; it is looked for again and again.
          </span>
          <Button size="small" onPress={host.retry}>
            Try now
          </Button>
        </>
      )}
    </div>
  );
}

function useThemeOfSettings(): void {
  const { data } = useAsk('settings.get', {}, { freshMs: 60_000 });
  const theme = data?.theme;
  useEffect(() => {
    if (theme) applyTheme(theme);
  }, [theme]);
}

/** A new screen takes the focus, so that the keyboard and a screen reader go on there; the first one does not. */
function useScreenFocus(screen: string): void {
  const isFirst = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs because the screen is another one
  useEffect(() => {
    if (!isFirst.current) focusScreen();
    isFirst.current = false;
  }, [screen]);
}

function focusScreen(): void {
  document.getElementById('screen')?.focus();
}
